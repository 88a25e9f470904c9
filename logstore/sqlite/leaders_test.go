package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// The rows that come first are found without reading all, and must be the same ones: also
// where the longest attempts are of jobs whose others are short.
func TestTheFirstRowsOfAReportAreThoseOfTheWhole(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	var updates []logstore.Update
	for i := range 300 {
		name := job.Name(fmt.Sprintf("billing/job-%d", i))
		usual := time.Duration(random.IntN(5000)) * time.Millisecond
		for n := range 25 + random.IntN(25) { // one is not the 95th percentile of them
			at := fire.Add(time.Duration(n) * time.Minute)
			took, status := usual, job.StatusSucceeded
			if i%3 == 0 && n == 0 {
				took = time.Hour + time.Duration(i)*time.Minute
			}
			if i%20 == 0 && n%2 == 0 {
				status = job.StatusFailed
			}
			updates = append(updates, updateOf(name, at, took, status))
		}
	}
	writeEnds(t, s, updates...)
	for _, order := range []runlog.Order{runlog.OrderDuration, runlog.OrderRatio, runlog.OrderFailures} {
		f := logstore.ReportFilter{From: fire, To: fire.Add(time.Hour), By: []runlog.Dimension{runlog.ByJob}, Order: order, Limit: logstore.MaxReportRows, Total: true}
		whole, err := s.Report(t.Context(), f)
		if err != nil || len(whole.Rows) != 300 {
			t.Fatalf("the report has %d rows, %v; want 300", len(whole.Rows), err)
		}
		f.Total = false
		for _, f.Limit = range []int{1, 2, 7, 14, 16, 40, 299, 300, 1000} {
			report, err := s.Report(t.Context(), f)
			if diff := cmp.Diff(whole.Rows[:min(f.Limit, len(whole.Rows))], report.Rows); diff != "" || err != nil {
				t.Errorf("%s, %d rows, with %v (-whole +report):\n%s", order, f.Limit, err, diff)
			}
		}
	}
}
