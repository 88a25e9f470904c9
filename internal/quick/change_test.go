package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var packages = []pkg{
	{ImportPath: "m", Dir: "/m"},
	{ImportPath: "m/look", Dir: "/m/look", EmbedFiles: []string{"a.css"}},
	{ImportPath: "m/page", Dir: "/m/page", Imports: []string{"m/look"}},
	{ImportPath: "m/job", Dir: "/m/job"},
	{ImportPath: "m/bus", Dir: "/m/bus", Imports: []string{"m/job"}},
	{ImportPath: "m/web", Dir: "/m/web", Imports: []string{"fmt", "m/bus"}, TestImports: []string{"m/web/try"}},
	{ImportPath: "m/web/try", Dir: "/m/web/try", Imports: []string{"m/job"}},
	{ImportPath: "m/run", Dir: "/m/run", XTestImports: []string{"m/web"}},
	{ImportPath: "m/alone", Dir: "/m/alone"},
}

func TestAFileBelongsToThePackageOfItsFolderOrOfTheNearestAbove(t *testing.T) {
	got := touched(packages, []string{"/m/web/testdata/x/a.json", "/m/job/a.go", "/m/job/b_test.go", "/m/docs/a.md", "/elsewhere/a.go"})
	if diff := cmp.Diff([]string{"m", "m/job", "m/web"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestThoseThatImportAChangeComeInTheOrderOfTheirDistance(t *testing.T) {
	for _, test := range []struct{ from, want []string }{
		{[]string{"m/job"}, []string{"m/job", "m/bus", "m/web/try", "m/web", "m/run"}},
		{[]string{"m/web", "m/alone"}, []string{"m/web", "m/alone", "m/run"}},
		{nil, nil},
	} {
		if diff := cmp.Diff(test.want, nearestFirst(packages, test.from)); diff != "" {
			t.Errorf("from %v: %s", test.from, diff)
		}
	}
}

func TestAPageOrATestIsNotFeltByThoseThatImportItsPackage(t *testing.T) {
	got := toTest(packages, []string{"/m/README.md", "/m/job/a_test.go", "/m/web/a.go", "/m/web/testdata/a.json", "/m/look/a.css"})
	if diff := cmp.Diff([]string{"m", "m/job", "m/look", "m/web", "m/page", "m/run"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPackageThatFailsBeforeTheTimeIsOverHasFailed(t *testing.T) {
	read := 0
	over := func() bool { read++; return read > 2 }
	done, failed := results(strings.NewReader("ok  \tm/job\t1s\n--- FAIL: TestX\nFAIL\tm/bus\t1s\nFAIL\tm/web\t1s\n"), over)
	if diff := cmp.Diff(map[string]bool{"m/job": true, "m/bus": true}, done); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"m/bus": true}, failed); diff != "" {
		t.Error(diff)
	}
}

func TestALineOfGoTestTellsWhichPackageHasEnded(t *testing.T) {
	for line, want := range map[string]string{
		"ok  \tm/job\t0.1s":              "m/job",
		"ok  \tm/job\t(cached)":          "m/job",
		"FAIL\tm/bus [build failed]":     "m/bus",
		"FAIL\tm/bus\t1s":                "m/bus",
		"?   \tm/try\t[no test files]":   "m/try",
		"--- FAIL: TestX (0.00s)":        "",
		"FAIL":                           "",
		"    x_test.go:1: ok  \tm/false": "",
	} {
		if got := tested(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
