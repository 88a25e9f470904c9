package carillon_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// translations are the pages in Chinese, with the pages that they are translated from.
var translations = map[string]string{
	"docs/zh/README.md":            "README.md",
	"docs/zh/first-failure.md":     "docs/tutorial/first-failure.md",
	"docs/zh/move-from-xxl-job.md": "docs/how-to/move-from-xxl-job.md",
	"docs/zh/glossary.md":          "docs/reference/glossary.md",
}

// TestTranslatedPagesHaveWhatTheirOriginalsHave compares the headings, the code, the rows of tables and
// the links of a page with those of its original: a page whose original has changed must follow.
func TestTranslatedPagesHaveWhatTheirOriginalsHave(t *testing.T) {
	pages, err := filepath.Glob("docs/zh/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		original, ok := translations[page]
		if !ok {
			t.Errorf("%s is translated from no page", page)
			continue
		}
		if diff := cmp.Diff(skeletonOf(original, readPage(t, original)), skeletonOf(page, readPage(t, page))); diff != "" {
			t.Errorf("%s is not as %s (-original +translation):\n%s", page, original, diff)
		}
	}
	if len(pages) != len(translations) {
		t.Errorf("%d pages, but %d translations", len(pages), len(translations))
	}
}

// skeleton is what a page and its translation have in common.
type skeleton struct {
	Headings []int    // their levels
	Code     []string // blocks, line by line
	Inline   []string // code within sentences and tables, in the order of the alphabet
	Rows     int
	Words    []string // in the first column of tables, where that is bold
	Links    []string // to what they lead, in the order of the alphabet
}

var (
	headingLine = regexp.MustCompile(`(?m)^(#+) `)
	inlineCode  = regexp.MustCompile("`[^`]+`")
	firstColumn = regexp.MustCompile(`(?m)^\| (\*\*[^|]+\*\*) \|`)
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

func skeletonOf(at, text string) skeleton {
	var s skeleton
	var prose strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(line, "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || strings.HasPrefix(line, "    ") {
			s.Code = append(s.Code, line)
			continue
		}
		prose.WriteString(line)
		if strings.HasPrefix(line, "|") {
			s.Rows++
		}
	}
	for _, m := range headingLine.FindAllStringSubmatch(prose.String(), -1) {
		s.Headings = append(s.Headings, len(m[1]))
	}
	for _, code := range inlineCode.FindAllString(prose.String(), -1) {
		s.Inline = append(s.Inline, strings.Join(strings.Fields(code), " "))
	}
	for _, m := range firstColumn.FindAllStringSubmatch(prose.String(), -1) {
		s.Words = append(s.Words, m[1])
	}
	for _, m := range pageLink.FindAllStringSubmatch(prose.String(), -1) {
		s.Links = append(s.Links, target(at, m[1]))
	}
	slices.Sort(s.Inline)
	slices.Sort(s.Links)
	return s
}

// target returns the file that a link of a page leads to, of a translation its original. Headings of the
// page itself are all alike, since they are translated.
func target(at, link string) string {
	if strings.Contains(link, "://") {
		return link
	}
	file, _, _ := strings.Cut(link, "#")
	if file == "" {
		return "#"
	}
	file = filepath.Join(filepath.Dir(at), file)
	if original, ok := translations[file]; ok {
		return original
	}
	return file
}
