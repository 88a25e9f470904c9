package logstore_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestASearchIsFoundInALineByCharacters(t *testing.T) {
	find := func(query, text string, want ...runlog.Range) {
		t.Helper()
		terms := logstore.ParseTerms(query)
		if diff := cmp.Diff(want, terms.Find(text)); diff != "" {
			t.Errorf("%q in %q differs (-want +got):\n%s", query, text, diff)
		}
	}
	find("error", "Error: no error, errors", runlog.Range{From: 0, To: 5}, runlog.Range{From: 10, To: 15})
	find("db-7", "größe of db-7", runlog.Range{From: 9, To: 11}, runlog.Range{From: 12, To: 13})
	find(`"to db"`, "to db, to db", runlog.Range{From: 0, To: 5}, runlog.Range{From: 7, To: 12})
	find("日本 語", "日本 語 日本語", runlog.Range{From: 0, To: 2}, runlog.Range{From: 3, To: 4}, runlog.Range{From: 5, To: 8})
	find("失败，重试", "运行失败了，3 秒后重试", runlog.Range{From: 2, To: 4}, runlog.Range{From: 10, To: 12})
	find("conn* *out", "connect timeout outer con", runlog.Range{From: 0, To: 4}, runlog.Range{From: 12, To: 15})
	find("*b*", "abba b", runlog.Range{From: 1, To: 3}, runlog.Range{From: 5, To: 6})
	find("aa", "aaa aa", runlog.Range{From: 4, To: 6})
	find("x", "\xff x", runlog.Range{From: 2, To: 3})
	find("", "anything")
}

// The console marks what a search has found by itself, and its test reads the same file.
func TestWhatASearchFindsIsWhatTheConsoleMarks(t *testing.T) {
	data, err := os.ReadFile("testdata/terms.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Query, Text string
		Found       []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		terms := logstore.ParseTerms(c.Query)
		if got := terms.Match(c.Text); got != (c.Found != nil) {
			t.Errorf("%q matches %q: %v", c.Query, c.Text, got)
		}
		if terms.Match(c.Text) && !terms.MayMatch([]byte("before\x00"+c.Text+"\x01")) {
			t.Errorf("%q is said to be nowhere in %q", c.Query, c.Text)
		}
		if c.Found == nil {
			continue
		}
		got := []string{}
		for _, r := range terms.Find(c.Text) {
			got = append(got, string([]rune(c.Text)[r.From:r.To]))
		}
		if diff := cmp.Diff(c.Found, got); diff != "" {
			t.Errorf("what %q finds in %q differs (-want +got):\n%s", c.Query, c.Text, diff)
		}
	}
}

func TestTheWordsOfATextAreThoseThatMatchIt(t *testing.T) {
	words := map[string]struct{}{}
	text := "GET /Größe?id=42 \x00 日本語, \xff\xfe; a--b"
	logstore.AddWords(words, text)
	got := slices.Sorted(maps.Keys(words))
	if diff := cmp.Diff([]string{"42", "a", "b", "get", "größe", "id", "日本語", "\xff\xfe"}, got); diff != "" {
		t.Errorf("words differ (-want +got):\n%s", diff)
	}
	for _, w := range got {
		if terms := logstore.ParseTerms(w); !terms.Match(text) {
			t.Errorf("%q is not found in the text that it is of", w)
		}
	}
}
