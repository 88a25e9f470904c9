package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheSiteHasEveryPageAndEveryLinkLeadsToOne(t *testing.T) {
	s, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	staged := map[string]bool{}
	for at := range s.pages {
		staged["/"+indexed(at)] = true
	}
	for at := range s.assets {
		staged["/"+at] = true
	}
	links := 0
	for at, p := range s.pages {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, ":") {
				continue
			}
			if links++; !staged[to] {
				t.Errorf("%s links to %s, which is not there", at, m[1])
			}
		}
	}
	if links < 300 {
		t.Errorf("only %d links were followed", links)
	}
	files, err := os.ReadDir("../../docs/how-to")
	if err != nil {
		t.Fatal(err)
	}
	list := string(s.files["llms.txt"])
	for _, f := range files {
		if at := "docs/how-to/" + f.Name(); s.pages[at] == nil || !strings.Contains(list, strings.TrimSuffix(at, ".md")+".html") {
			t.Errorf("the site has no page, or llms.txt no line, for %s", at)
		}
	}
	for _, want := range []string{"### whyJob\n", "`GET /api/v1/runs/{run_id}`", "## ledger\n"} {
		if !strings.Contains(s.pages[apiPage].text, want) {
			t.Errorf("the page of the API lacks %q", want)
		}
	}
}

func TestVersionsAreListedByTheirNumbers(t *testing.T) {
	got := []string{"1.10", "dev", "1.9", "2.0-rc.1"}
	slices.SortFunc(got, compareVersions)
	if want := []string{"dev", "1.9", "1.10", "2.0-rc.1"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
