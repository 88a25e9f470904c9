package webapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestHitsComeWithWhereTheyMatchAndTheLinesAround(t *testing.T) {
	w := newWorld(t)
	x, y := begun("billing/x", noon), begun("orders/y", noon)
	w.history(x, y)
	var lines []runlog.Line
	for seq := range int64(30) {
		text := fmt.Sprintf("größe %d", seq+1)
		if seq == 0 || seq == 9 || seq == 10 || seq == 29 {
			text += " OutOfMemory!"
		}
		for _, u := range []logstore.Update{x, y} {
			lines = append(lines, runlog.Line{RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: seq + 1, At: noon, Level: "info", Output: "stdout", Text: text})
		}
	}
	w.check(w.store.WriteLines(t.Context(), "T:1-1", lines))
	page, _ := want[LogHits](w, http.StatusOK, "GET", "/api/v1/logs?job=billing/x&text=outofmemory&context=2", nil)
	var got []string
	for _, h := range page.Items {
		seqs := func(lines []runlog.Line) (all []int64) {
			for _, l := range lines {
				all = append(all, l.Seq)
			}
			return all
		}
		got = append(got, fmt.Sprintf("%s %d %v before %v after %v", h.Job, h.Seq, h.Highlights, seqs(h.Before), seqs(h.After)))
	}
	expected := []string{
		"billing/x 30 [{9 20}] before [28 29] after []",
		"billing/x 11 [{9 20}] before [9 10] after [12 13]",
		"billing/x 10 [{9 20}] before [8 9] after [11 12]",
		"billing/x 1 [{8 19}] before [] after [2 3]",
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("hits differ (-want +got):\n%s", diff)
	}
	plain, _ := want[LogHits](w, http.StatusOK, "GET", "/api/v1/logs?text=outofmemory&level=info", nil)
	if len(plain.Items) != 8 || plain.Items[0].Before != nil || plain.Items[0].After != nil {
		t.Errorf("without context there are %+v", plain.Items)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs?text=x&context=21", nil, "context")
}
