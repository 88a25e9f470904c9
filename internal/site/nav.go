package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
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

// chinese is the folder of the pages in Chinese, and the title of their list.
const (
	chinese      = "docs/zh"
	chineseTitle = "中文"
)

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
	english := slices.DeleteFunc(slices.Clone(s.nav), isChinese)
	nav, err1 := json.MarshalIndent(english, "    ", "  ")
	zh, err2 := json.MarshalIndent(slices.DeleteFunc(slices.Clone(s.nav), func(of section) bool { return !isChinese(of) }), "        ", "  ")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `export default {
  base: '/%[1]s/',
  title: 'Carillon',
  description: 'Cron that can prove that it fired',
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
    search: { provider: 'local', options: { locales: { 'docs/zh': { translations: {
      button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
      modal: { noResultsText: '没有结果', resetButtonTitle: '清除', footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' } },
    } } } } },
    i18nRouting: false, // most pages are in English only
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial/first-failure' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'API', link: '/docs/reference/api' },
      { text: 'Changes', link: '/CHANGELOG' },
      { text: 'Versions', link: '/versions.html', target: '_self' },
    ],
    sidebar: %[2]s,
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    'docs/zh': {
      label: '简体中文',
      lang: 'zh-CN',
      link: '/docs/zh/',
      description: '能证明自己按时触发过的 cron',
      themeConfig: {
        outline: { level: [2, 3], label: '本页' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        nav: [
          { text: '教程', link: '/docs/zh/first-failure' },
          { text: '文档（英文）', link: '/docs/' },
          { text: '版本', link: '/versions.html', target: '_self' },
        ],
        sidebar: %[3]s,
      },
    },
  },
}
`, s.version, nav, zh), nil
}

func isChinese(of section) bool { return of.Text == chineseTitle }
