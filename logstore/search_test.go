package logstore_test

import (
	"maps"
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
	find("日本 語", "日本 語 日本語", runlog.Range{From: 0, To: 2}, runlog.Range{From: 3, To: 4})
	find("aa", "aaa aa", runlog.Range{From: 4, To: 6})
	find("x", "\xff x", runlog.Range{From: 2, To: 3})
	find("", "anything")
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
