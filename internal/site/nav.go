package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// section is a part of the list of pages.
type section struct {
	Text  string  `json:"text"`
	Items []entry `json:"items"`
}

// entry is a page in it.
type entry struct {
	Text string `json:"text"`
	Link string `json:"link"`
	says string // what the page is for
	at   string // its path in the repository
}

var row = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(/([^)]+)\) \| (.+) \|$`)

// navOf reads the list of pages from the tables of the table of contents.
func navOf(s *site) ([]section, error) {
	var all []section
	listed := map[string]bool{}
	for part := range strings.SplitSeq(s.pages[contents].text, "\n## ") {
		title, text, _ := strings.Cut(part, "\n")
		of := section{Text: title}
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			at := m[2]
			if s.pages[at] == nil {
				at = strings.TrimSuffix(at, "index.md") + "README.md"
			}
			if s.pages[at] == nil {
				continue // a file of the repository
			}
			listed[at] = true
			of.Items = append(of.Items, entry{Text: m[1], Link: "/" + strings.TrimSuffix(m[2], ".md"), says: m[3], at: at})
		}
		if len(of.Items) > 0 {
			all = append(all, of)
		}
	}
	for _, at := range s.paths() {
		if strings.HasPrefix(at, "docs/") && !strings.HasPrefix(at, adrs+"/") && at != contents && !listed[at] && !strings.HasPrefix(at, "docs/tutorial/") {
			return nil, fmt.Errorf("%s does not list %s", contents, at)
		}
	}
	return all, nil
}

// config returns the configuration of the renderer.
func (s *site) config() ([]byte, error) {
	nav, err := json.MarshalIndent(s.nav, "    ", "  ")
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `export default {
  base: '/%[1]s/',
  title: 'Carillon',
  description: 'Cron that can prove that it fired',
  lang: 'en',
  cleanUrls: false,
  lastUpdated: false,
  srcExclude: ['public/**'],
  head: [
    ['link', { rel: 'icon', href: '/%[1]s/icon.svg' }],
    ['style', {}, '.vp-doc [class*="language-"] > span.lang { color: var(--vp-c-text-2) }'],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    html: false,
    attrs: { disable: true },
    config(md) { // to the renderer, two braces begin an expression
      const plain = (text) => md.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;')
      md.renderer.rules.text = (tokens, i) => plain(tokens[i].content)
      md.renderer.rules.code_block = (tokens, i, ...rest) => md.renderer.rules.fence(Object.assign(tokens, { [i]: Object.assign(tokens[i], { info: 'txt' }) }), i, ...rest)
      md.renderer.rules.code_inline = (tokens, i) => '<code>' + plain(tokens[i].content) + '</code>'
    },
  },
  themeConfig: {
    siteTitle: 'Carillon %[1]s',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial/first-failure' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'API', link: '/docs/reference/api' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: %[2]s,
  },
}
`, s.version, nav), nil
}
