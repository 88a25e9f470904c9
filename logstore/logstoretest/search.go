package logstoretest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// said returns a line of a run, at info.
func (r run) said(seq int, text string) runlog.Line {
	return runlog.Line{RunID: r.id(), Job: r.job, Attempt: r.attempt, Seq: int64(seq), At: r.fire.Add(ms(seq)), Level: "info", Output: "stdout", Text: text}
}

func findLines(t *testing.T, s logstore.Store, f logstore.SearchFilter) logstore.SearchPage {
	t.Helper()
	page, err := s.Search(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// wantHits compares what a search finds with "hour/attempt:seq" of each line.
func wantHits(t *testing.T, s logstore.Store, f logstore.SearchFilter, want ...string) {
	t.Helper()
	got := []string{}
	for _, l := range findLines(t, s, f).Lines {
		got = append(got, fmt.Sprintf("%g/%d:%d", l.RunID.Time().Sub(epoch).Hours(), l.Attempt, l.Seq))
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("search for %+v differs (-want +got):\n%s", f, diff)
	}
}

func searchWords(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	r := newRun()
	w.lines(t,
		r.said(1, "Connection to db-7 refused"),
		r.said(2, "connection ESTABLISHED (db-7)"),
		r.said(3, "reconnecting; 100% of 3_000 rows"),
		r.said(4, "größe: 7 日本語 ok"),
		r.said(5, ""),
		r.said(6, `the path is C:\temp\x, "quoted"`),
		r.said(7, "100x of 3.000 rows"))
	want := func(text string, seqs ...int) {
		t.Helper()
		var hits []string
		for _, seq := range seqs {
			hits = append(hits, fmt.Sprintf("0/1:%d", seq))
		}
		wantHits(t, s, logstore.SearchFilter{Text: text}, hits...)
	}
	want("", 7, 6, 5, 4, 3, 2, 1)
	want("connection", 2, 1)
	want("CONNECTION db", 2, 1)
	want("7 connection refused", 1)
	want("db-7", 2, 1)
	want("connect")
	want("connecting")
	want("7", 4, 2, 1)
	want("größe", 4)
	want("日本語", 4)
	want("日本", 4)
	want("本", 4)
	want("日语")
	want("ok 本語", 4)
	want(`"日本"`, 4)
	want(`": 7 日本"`, 4)
	want(`"日 本"`)
	want("connect*", 2, 1)
	want("*connecting", 3)
	want("*onnect*", 3, 2, 1)
	want("*connect")
	want("refus* db", 1)
	want("*0*", 7, 3)
	want("10*", 7, 3)
	want("*röß*", 4)
	want("* 100x *", 7)
	want(`"to db-7"`, 1)
	want(`"db-7 to"`)
	want(`"100% of"`, 3)
	want(`"3_000"`, 3)
	want(`"3.000"`, 7)
	want(`"c:\temp"`, 6)
	want(`"is c" path`, 6)
	want(`rows "100"`, 3)
	want("--- ;", 7, 6, 5, 4, 3, 2, 1)
	want("absent")
}

func searchFilters(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	at := func(hour int) run { return newRun().at(epoch.Add(time.Duration(hour) * time.Hour)) }
	failed := at(2).said(2, "hello again")
	failed.Level = "error"
	w.lines(t, at(1).said(1, "hello"), at(1).try(2).said(1, "hello"), at(2).said(1, "hello"), failed,
		at(3).of("bill/day").said(1, "hello"), at(4).of("billing/other").said(1, "hello"))
	want := func(f logstore.SearchFilter, hits ...string) {
		t.Helper()
		f.Text = "hello"
		wantHits(t, s, f, hits...)
	}
	want(logstore.SearchFilter{}, "4/1:1", "3/1:1", "2/1:2", "2/1:1", "1/2:1", "1/1:1")
	want(logstore.SearchFilter{Limit: 2}, "4/1:1", "3/1:1")
	want(logstore.SearchFilter{Group: "bill"}, "3/1:1")
	want(logstore.SearchFilter{Groups: []string{"bill", "unknown"}}, "3/1:1")
	want(logstore.SearchFilter{Groups: []string{"bil*"}, Group: "bill"}, "3/1:1")
	want(logstore.SearchFilter{Groups: []string{"unknown"}})
	want(logstore.SearchFilter{Jobs: []job.Name{report}}, "2/1:2", "2/1:1", "1/2:1", "1/1:1")
	want(logstore.SearchFilter{Levels: []string{"error", "warn"}}, "2/1:2")
	want(logstore.SearchFilter{RunID: at(1).id()}, "1/2:1", "1/1:1")
	want(logstore.SearchFilter{From: epoch.Add(2 * time.Hour), To: epoch.Add(4 * time.Hour)}, "3/1:1", "2/1:2", "2/1:1")

	refuse := func(field string, f logstore.SearchFilter) {
		t.Helper()
		_, err := s.Search(t.Context(), f)
		wantInvalid(t, err, field)
	}
	refuse("text", logstore.SearchFilter{Text: `"open`})
	refuse("text", logstore.SearchFilter{Text: "caf\xe9"})
	refuse("run_id", logstore.SearchFilter{RunID: "1234"})
	refuse("group", logstore.SearchFilter{Group: "A B"})
	refuse("limit", logstore.SearchFilter{Limit: logstore.MaxHits + 1})
	refuse("cursor", logstore.SearchFilter{Cursor: "next"})
}

func searchPages(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	var all []runlog.Line
	for hour := range 40 {
		r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", hour%3))).at(epoch.Add(time.Duration(hour/2) * time.Hour))
		all = append(all, logOf(r, 1, 20)...)
	}
	w.lines(t, all...)
	w.lines(t, all[10:30]...) // again
	pieces := logOf(newRun().at(epoch.Add(3*time.Hour)), 1, 40)
	for i := range pieces {
		pieces[i].Piece, pieces[i].Seq = runlog.PieceAt(i/20), int64(i%20+1)
	}
	all = append(all, pieces...)
	w.lines(t, pieces...)
	var got []runlog.Line
	f := logstore.SearchFilter{Text: "log says", Limit: 37}
	for {
		page := findLines(t, s, f)
		got = append(got, page.Lines...)
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
	}
	if len(got) != len(all) {
		t.Errorf("the pages have %d lines; want %d", len(got), len(all))
	}
	for i := 1; i < len(got); i++ {
		if logstore.CompareHits(&got[i-1], &got[i]) >= 0 {
			t.Fatalf("line %d of run %s comes before line %d of run %s", got[i-1].Seq, got[i-1].RunID, got[i].Seq, got[i].RunID)
		}
	}
}

// searchLikeTheModel compares what a store finds in random lines with what their texts
// match, one by one.
func searchLikeTheModel(t *testing.T, s logstore.Store) {
	random := rand.New(rand.NewPCG(5, 7))
	vocabulary := []string{"error", "Error", "errors", "db", "7", "42", "größe", "日本", "运行失败", "订单7失败", "。", "timeout", "x_y", "a.b", "%", "C:\\x", "\xff", "né", "ERR-7"}
	parts := []string{" ", " ", " ", "-", ", ", ""}
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) + 1 {
			b.WriteString(vocabulary[random.IntN(len(vocabulary))] + parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	var all []runlog.Line
	w := &writes{store: s}
	for hour := range 60 {
		r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", hour%7))).at(epoch.Add(time.Duration(hour) * time.Hour))
		var lines []runlog.Line
		for seq := range 12 {
			lines = append(lines, r.said(seq+1, text(8)))
		}
		all = append(all, lines...)
		w.lines(t, lines...)
	}
	slices.SortFunc(all, func(a, b runlog.Line) int { return logstore.CompareHits(&a, &b) })
	inWords := []string{"*ime*", "err*", "*or", "败", "行失", "订单", "运行，失败", "*7", "x*", "本err"}
	for range 90 {
		query := text(3)
		switch random.IntN(4) {
		case 0:
			query = `"` + query + `"`
		case 1, 2:
			query = inWords[random.IntN(len(inWords))] + " " + text(1)
		}
		query = strings.ToValidUTF8(query, "é") // only lines may have other bytes
		terms := logstore.ParseTerms(query)
		want := []runlog.Line{}
		for i := range all {
			if terms.Match(all[i].Text) {
				want = append(want, all[i])
			}
		}
		got := findLines(t, s, logstore.SearchFilter{Text: query, Limit: logstore.MaxHits}).Lines
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("search for %q differs (-want +got):\n%s", query, diff)
		}
	}
}

func searchManyWords(t *testing.T, s logstore.Store) {
	var words []string
	for i := range 100 {
		words = append(words, string(rune('a'+i%26))+strconv.Itoa(i/26))
	}
	text := strings.Join(words, " ")[:250]
	w := &writes{store: s}
	w.lines(t, newRun().said(1, text), newRun().said(2, strings.TrimPrefix(text, "a0 ")))
	wantHits(t, s, logstore.SearchFilter{Text: text}, "0/1:1")
}
