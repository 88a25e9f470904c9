package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFigureIsWorseThanItsLastOnes(t *testing.T) {
	var before []record
	for _, v := range []float64{500, 100, 104, 90, 98, 102} { // the first is too old
		before = append(before, record{Processor: "a", Figures: map[string]float64{"x": v, "y": v}})
	}
	before = append(before, record{Processor: "b", Figures: map[string]float64{"x": 1, "z": 1}})
	var text strings.Builder
	report(&text, record{Processor: "a", Figures: map[string]float64{"x": 109, "y": 111, "z": 7}}, before)
	want := "      x 109.0, 1.09 times 100.0\nWORSE y 111.0, 1.11 times 100.0\n      z 7.0, the first of this processor\n"
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}

func TestRecordsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "bench.jsonl")
	if all, err := read(file); err != nil || all != nil {
		t.Errorf("no file: %v, %v", all, err)
	}
	if err := save(file, []record{{Commit: "1"}, {Commit: "2", Figures: map[string]float64{"x": 1}}}); err != nil {
		t.Fatal(err)
	}
	if all, err := read(file); err != nil || len(all) != 2 || all[1].Commit != "2" || all[1].Figures["x"] != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if err := os.WriteFile(file, []byte("{}\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(file); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

// program writes a program that prints a text, and returns its path.
func program(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "carillon")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+text+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestABenchThatLosesARunHasNoFigures(t *testing.T) {
	b := bench{false, []string{"run"}, []string{"cpu_us_each"}}
	for text, want := range map[string]string{
		`{"lost":1,"doubled":0,"cpu_us_each":80}`: "lost is 1",
		`{"lost":0,"doubled":2,"cpu_us_each":80}`: "doubled is 2",
		`{"lost":0,"doubled":0}`:                  "no figure cpu_us_each",
		`none`:                                    "invalid character",
	} {
		all := map[string][]float64{}
		if err := measure(t.Context(), []string{program(t, text), "bench"}, b, all); err == nil || !strings.Contains(err.Error(), want) || len(all) != 0 {
			t.Errorf("%s: %v, %v; want %q", text, err, all, want)
		}
	}
	all := map[string][]float64{}
	for _, v := range []string{"80", "90", "70"} {
		if err := measure(t.Context(), []string{program(t, `{"lost":0,"doubled":0,"cpu_us_each":`+v+`}`)}, b, all); err != nil {
			t.Fatal(err)
		}
	}
	if got := medians(all)["run: cpu_us_each"]; got != 80 {
		t.Errorf("median %v", got)
	}
}
