package logstoretest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// sortedLists has runs of every state: some that are all over, some in flight, some that
// never began, several of one duration, and enough for rows that cancel out to be cut.
func sortedLists(t *testing.T, s logstore.Store) {
	const runs = 120
	w := &writes{store: s}
	var first, then []logstore.Update
	for i := range runs {
		r := newRun().at(epoch.Add(time.Duration(i) * time.Minute))
		first = append(first, r.recorded(job.StatusPending))
		start := ms(10 + i*37%50)
		switch i % 5 {
		case 0: // waits
		case 1:
			then = append(then, r.started("worker-1", 1, start))
		case 2:
			then = append(then, r.try(1).finished(job.StatusFailed, "worker-1", time.Second+ms(i*53%40)), r.try(2).finished(job.StatusSucceeded, "worker-2", 2*time.Second+ms(i%3)))
		default:
			u := r.finished(job.StatusSucceeded, "worker-1", time.Second+ms(i*71%30))
			u.StartedAt = r.fire.Add(start)
			if i%4 == 0 {
				u.Cause = job.CauseManual
			}
			then = append(then, u)
		}
	}
	w.runs(t, first...)
	w.runs(t, then...)

	inRange := logstore.RunFilter{From: epoch, To: epoch.Add(runs * time.Minute)}
	for _, f := range []logstore.RunFilter{inRange, {From: inRange.From, To: inRange.To, AllAttempts: true}, {From: inRange.From, To: inRange.To, Jobs: []job.Name{report}}} {
		f.Limit = logstore.MaxRuns
		all := list(t, s, f).Runs
		for _, by := range logstore.SortKeys {
			for _, rising := range []bool{true, false} {
				o := logstore.RunOrder{By: by, Rising: rising}
				if o.Default() {
					continue
				}
				want := slices.Clone(all)
				slices.SortFunc(want, func(a, b runlog.Run) int { return o.Compare(&a, &b) })
				for _, limit := range []int{7, logstore.MaxRuns} {
					f.Sort, f.Limit = o, limit
					got := list(t, s, f)
					if diff := cmp.Diff(want[:min(limit, len(want))], got.Runs); diff != "" || got.Next != "" {
						t.Fatalf("the first %d by %+v, with the next page at %q (-want +got):\n%s", limit, o, got.Next, diff)
					}
				}
			}
		}
	}

	order := func(o logstore.RunOrder, minutes ...int) {
		t.Helper()
		var got []int
		for _, r := range list(t, s, logstore.RunFilter{From: epoch, To: epoch.Add(6 * time.Minute), Sort: o}).Runs {
			got = append(got, int(r.FireTime.Sub(epoch).Minutes()))
		}
		if diff := cmp.Diff(minutes, got); diff != "" {
			t.Errorf("by %+v (-want +got):\n%s", o, diff)
		}
	}
	order(logstore.RunOrder{Rising: true}, 0, 1, 2, 3, 4, 5)
	order(logstore.RunOrder{By: logstore.SortFinished}, 4, 3, 2, 5, 1, 0)
	order(logstore.RunOrder{By: logstore.SortFinished, Rising: true}, 2, 3, 4, 5, 1, 0)
}
