package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// repository is where files are that are no pages.
const repository = "https://github.com/carillon-scheduler/carillon/tree/main/"

// The pages that lead to all others, and the contract that becomes a page.
const (
	home     = "README.md"
	contents = "docs/README.md"
	contract = "api/openapi.yaml"
	apiPage  = "docs/reference/api.md"
	adrs     = "docs/adr"
)

// site is what is rendered: by path, pages, and the files that they show.
type site struct {
	pages   map[string]*page
	assets  map[string][]byte
	files   map[string][]byte // that are served as they are
	nav     []section
	version string // that the pages are of
}

// page is a Markdown file whose links lead to where the site has what they name.
type page struct {
	title, text string
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^# (.+)$`)
)

// read collects the pages of a repository.
func read(root fs.FS) (*site, error) {
	s := &site{pages: map[string]*page{}, assets: map[string][]byte{}, files: map[string][]byte{}}
	if err := s.addADRs(root); err != nil {
		return nil, err
	}
	if err := s.addAPI(root); err != nil {
		return nil, err
	}
	for open := []string{home, contents}; len(open) > 0; open = open[1:] {
		more, err := s.add(root, open[0])
		if err != nil {
			return nil, err
		}
		open = append(open, more...)
	}
	var err error
	if s.nav, err = navOf(s); err != nil {
		return nil, err
	}
	s.addLLMs()
	// The renderer leads to nothing outside of a version, so this page does.
	s.files["versions.html"] = []byte("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Versions</title>\n<meta http-equiv=\"refresh\" content=\"0; url=../\">\n<a href=\"../\">All versions</a>\n")
	s.files["icon.svg"], err = fs.ReadFile(root, "frontend/public/favicon.svg")
	return s, err
}

// add adds a page, and returns the pages to which it leads.
func (s *site) add(root fs.FS, at string) (more []string, err error) {
	if s.pages[at] != nil {
		return nil, nil
	}
	data, err := fs.ReadFile(root, at)
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	p := &page{}
	s.pages[at] = p
	p.text = link.ReplaceAllStringFunc(string(data), func(m string) string {
		target := m[2 : len(m)-1]
		if strings.Contains(target, ":") || strings.HasPrefix(target, "#") {
			return m
		}
		file, anchor, _ := strings.Cut(target, "#")
		file = path.Join(path.Dir(at), file)
		to, next, bad := s.resolve(root, file)
		if err = errors.Join(err, bad); next != "" {
			more = append(more, next)
		}
		if anchor != "" {
			to += "#" + anchor
		}
		if !strings.Contains(to, ":") {
			to = "/" + to
		}
		return "](" + to + ")"
	})
	if m := heading.FindStringSubmatch(p.text); m != nil {
		p.title = m[1]
	} else {
		err = errors.Join(err, fmt.Errorf("%s has no title", at))
	}
	return more, err
}

// resolve returns where the site has a file, and the page that it needs for that.
func (s *site) resolve(root fs.FS, file string) (to, next string, err error) {
	info, err := fs.Stat(root, file)
	switch {
	case file == contract:
		return apiPage, "", nil
	case file == adrs:
		return adrs + "/index.md", "", nil
	case err != nil:
		return "", "", err
	case info.IsDir():
		return repository + file, "", nil
	}
	switch path.Ext(file) {
	case ".md":
		return indexed(file), file, nil
	case ".png", ".svg":
		s.assets[file], err = fs.ReadFile(root, file)
		return file, "", err
	}
	return repository + file, "", nil
}

// indexed returns the path at which a page is staged: a folder shows its index.
func indexed(at string) string {
	if path.Base(at) == "README.md" {
		return path.Join(path.Dir(at), "index.md")
	}
	return at
}

// addADRs adds a page with the list of decisions.
func (s *site) addADRs(root fs.FS) error {
	files, err := fs.Glob(root, adrs+"/*.md")
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("# Decisions\n\nWhy Carillon is built as it is.\n\n")
	for _, file := range files {
		if _, err := s.add(root, file); err != nil {
			return err
		}
		fmt.Fprintf(&text, "- [%s](/%s)\n", s.pages[file].title, file)
	}
	s.pages[adrs+"/README.md"] = &page{title: "Decisions", text: text.String()}
	return nil
}

// write stages the site in a folder.
func (s *site) write(to string) error {
	all := map[string][]byte{}
	for at, p := range s.pages {
		all[indexed(at)] = []byte(p.text)
	}
	maps.Copy(all, s.assets)
	for at, data := range s.files {
		all["public/"+at] = data
	}
	config, err := s.config()
	if err != nil {
		return err
	}
	all[".vitepress/config.mjs"] = config
	for at, data := range all {
		file := filepath.Join(to, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // for everybody, as the pages
			return fmt.Errorf("stage %s: %w", at, err)
		}
		if err := os.WriteFile(file, bytes.TrimPrefix(data, []byte("\ufeff")), 0o644); err != nil { //nolint:gosec // pages for everybody
			return fmt.Errorf("stage %s: %w", at, err)
		}
	}
	return nil
}

// paths returns the paths of all pages, in order.
func (s *site) paths() []string {
	var all []string
	for at := range s.pages {
		all = append(all, at)
	}
	slices.Sort(all)
	return all
}
