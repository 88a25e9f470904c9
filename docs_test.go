package carillon_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestGuaranteesNameTestsThatExist keeps the guarantees and the threat model honest: a promise whose
// test was renamed or removed is no longer shown.
func TestGuaranteesNameTestsThatExist(t *testing.T) {
	exists := testNames(t)
	for page, least := range map[string]int{"docs/explanation/guarantees.md": 20, "docs/explanation/threat-model.md": 10} {
		doc, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllSubmatch(doc, -1)
		if len(named) < least {
			t.Errorf("%s names %d tests; is it still the page with the promises?", page, len(named))
		}
		for _, m := range named {
			if !exists[string(m[1])] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
}

// TestLinksOfThePagesLeadSomewhere follows the links from one page of the documentation
// to another, to a file, or to a heading.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	followed := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			followed++
			path, heading, hasHeading := strings.Cut(m[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			switch _, err := os.Stat(target); {
			case err != nil:
				t.Errorf("%s links to %s: %v", page, m[1], err)
			case hasHeading && !headings(readPage(t, target))[heading]:
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if followed < 50 {
		t.Errorf("only %d links were followed: the test reads past them", followed)
	}
}

// TestLinesOfThePagesAreShort keeps the pages readable in a terminal and in a diff. Tables,
// headings, code and the targets of links do not count: they cannot be wrapped.
func TestLinesOfThePagesAreShort(t *testing.T) {
	const limit = 100
	target := regexp.MustCompile(`\]\([^)\s]+\)|https?://\S+`)
	measured := 0
	for _, page := range pages(t) {
		for number, line := range proseLines(readPage(t, page)) {
			measured++
			if n := utf8.RuneCountInString(target.ReplaceAllString(line, "]")); n > limit {
				t.Errorf("%s:%d has %d characters: wrap it at %d", page, number, n, limit)
			}
		}
	}
	if measured < 1000 {
		t.Errorf("only %d lines were measured: the test reads past them", measured)
	}
}

// proseLines returns the lines of a page that can be wrapped, by their number.
func proseLines(page string) map[int]string {
	prose, inCode := map[int]string{}, false
	for i, line := range strings.Split(page, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		inCode = inCode != fence
		switch {
		case inCode || fence || line == "":
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "    "):
		default:
			prose[i+1] = line
		}
	}
	return prose
}

// TestLongPagesHaveATableOfContents wants links to the sections before the first section.
func TestLongPagesHaveATableOfContents(t *testing.T) {
	long := 0
	for _, page := range pages(t) {
		text := readPage(t, page)
		if !strings.HasPrefix(page, "docs") || strings.Count(text, "\n") <= 200 {
			continue
		}
		long++
		start, _, _ := strings.Cut(text, "\n## ")
		if strings.Count(start, "](#") < 3 {
			t.Errorf("%s is longer than 200 lines: list its sections with links before the first one", page)
		}
	}
	if long < 5 {
		t.Errorf("only %d long pages were found: the test reads past them", long)
	}
}

// pages returns every Markdown file of the repository but those of other people's packages.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			all = append(all, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// headings returns a page's headings as links name them: in lower case, without
// punctuation, with hyphens for blanks.
func headings(page string) map[string]bool {
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		known[strings.ReplaceAll(name, " ", "-")] = true
	}
	return known
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.':
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllSubmatch(source, -1) {
			names[string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestThePageOnHandlersHasTheProgramOfTheExample(t *testing.T) {
	page, err := os.ReadFile("docs/how-to/write-a-handler-in-go.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/go/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(program), "\npackage main\n")
	if !strings.Contains(string(page), "```go main\npackage main\n"+body+"```") {
		t.Error("docs/how-to/write-a-handler-in-go.md shows another program than examples/go/main.go")
	}
}

func TestThePageForThoseOfRiverHasTheExampleAndItsJobs(t *testing.T) {
	page, err := os.ReadFile("docs/how-to/from-river-and-temporal.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, language := range map[string]string{"main.go": "go", "jobs.yaml": "yaml"} {
		text, err := os.ReadFile(filepath.Join("examples/river", file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "main.go" {
			_, text, _ = bytes.Cut(text, []byte("\n")) // without what the page says itself
		}
		if !strings.Contains(string(page), "```"+language+"\n"+string(text)+"```") {
			t.Errorf("the page has not all of examples/river/%s", file)
		}
	}
}
