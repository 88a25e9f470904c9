package webapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestLinesAreFoundInTheWholeLog(t *testing.T) {
	w := newWorld(t)
	u := begun("billing/x", noon)
	w.history(u)
	const last = 25_000 // more than a page of the store
	lines := make([]runlog.Line, 0, last)
	for seq := int64(1); seq <= last; seq++ {
		l := runlog.Line{RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: seq, At: noon, Level: "info", Output: "stdout", Text: fmt.Sprintf("line %d", seq)}
		switch seq {
		case 150:
			l.Level, l.Text = "warn", "\x1b[33mdisk\x1b[0m is nearly full"
		case 20_000:
			l.Text = "Disk is full"
		}
		lines = append(lines, l)
	}
	w.check(w.store.WriteLines(t.Context(), "T:1-1", lines))
	find := func(query string) LogFind {
		t.Helper()
		for { // a busy machine may have no time for the whole log
			found, _ := want[LogFind](w, http.StatusOK, "GET", "/api/v1/runs/"+string(u.RunID)+"/logs/find?attempt=1"+query, nil)
			if found.Complete {
				return found
			}
		}
	}
	all := LogFind{Levels: map[string]int{"info": last - 1, "warn": 1}, LastSeq: last, Seqs: []int64{}, Complete: true}
	if diff := cmp.Diff(all, find("")); diff != "" {
		t.Error(diff)
	}
	for query, seqs := range map[string][]int64{
		"&text=disk+is":                        {150, 20_000},
		"&text=disk+is&level=warn":             {150},
		"&text=disk+is&level=info&level=error": {20_000},
		"&text=LINE+1999[13]%24":               {},
		"&text=LINE+199[13]%24&regex=true":     {1991, 1993},
		"&text=line+2[45]000%24&regex=true":    {24_000, 25_000},
	} {
		if got := find(query); got.Total != len(seqs) || !cmp.Equal(got.Seqs, seqs) || got.LastSeq != last {
			t.Errorf("%s: found %d lines %v, looked to %d", query, got.Total, got.Seqs, got.LastSeq)
		}
	}
	if got := find("&text=line"); got.Total != last-2 || len(got.Seqs) != 10_000 {
		t.Errorf("found %d lines, named %d", got.Total, len(got.Seqs))
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/runs/"+string(u.RunID)+"/logs/find?regex=true&text=(", nil, "text")
}
