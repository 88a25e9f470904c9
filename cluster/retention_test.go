package cluster_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestWhoeverFollowsTheRetentionHearsEachChange(t *testing.T) {
	inCluster(t, func(w *world) {
		t := w.t
		const days = job.Duration(24 * time.Hour)
		keep := func(n int) job.Retention {
			return job.Retention{Default: job.Keep{Runs: job.Duration(n) * days, Logs: days}}
		}
		if e, err := w.conn.Retention().Get(t.Context(), keep(7)); err != nil || e.Revision != 0 || e.Default.Runs != 7*days {
			t.Errorf("at first there is %+v, with %v", e, err)
		}
		put := func(n int, e cluster.Edit) (*cluster.RetentionEntry, error) {
			e.At, e.Author = time.Now(), "ann"
			return w.conn.Retention().Put(t.Context(), keep(n), e)
		}
		first, err := put(1, cluster.Edit{IfAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var heard []job.Duration
		ended := make(chan error, 1)
		go func() {
			ended <- w.conn.Retention().Follow(ctx, func(e *cluster.RetentionEntry, err error) {
				if err != nil {
					t.Error(err)
					return
				}
				heard = append(heard, e.Default.Runs/days)
			})
		}()
		time.Sleep(time.Second)
		if _, err := put(2, cluster.Edit{IfRevision: first.Revision}); err != nil {
			t.Fatal(err)
		}
		for _, e := range []cluster.Edit{{IfRevision: first.Revision}, {IfAbsent: true}} {
			if _, err := put(3, e); !errors.Is(err, job.ErrConflict) {
				t.Errorf("with %+v the error is %v; want job.ErrConflict", e, err)
			}
		}
		if _, err := put(4, cluster.Edit{}); err != nil {
			t.Fatal(err)
		}
		if _, err := put(0, cluster.Edit{}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("the error is %v; want job.ErrInvalid", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]job.Duration{1, 2, 4}, heard); diff != "" {
			t.Errorf("heard differs (-want +got):\n%s", diff)
		}
	})
}

func TestHistoryIsWholeSinceWhatAShorterRetentionLeft(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, time.March, 30, 12, 0, 0, 0, time.UTC)
	keep := func(days int, changed time.Duration) cluster.RetentionEntry {
		e := cluster.RetentionEntry{ChangedAt: now.Add(-changed)}
		e.Default.Runs = job.Duration(time.Duration(days) * day)
		return e
	}
	for _, c := range []struct {
		name string
		kept cluster.Retentions
		want time.Duration // before now
	}{
		{"one rule", cluster.Retentions{keep(30, 0)}, 30 * day},
		{"shortened yesterday", cluster.Retentions{keep(30, 0), keep(5, day)}, 5 * day},
		{"shortened for a day, a week ago", cluster.Retentions{keep(30, 0), keep(5, 8*day), keep(30, 7*day)}, 12 * day},
		{"shortened for a day, long ago", cluster.Retentions{keep(30, 0), keep(5, 41*day), keep(30, 40*day)}, 30 * day},
	} {
		if got := now.Sub(c.kept.Since("g/a", now)); got != c.want {
			t.Errorf("%s: the history is whole for %s, want %s", c.name, got, c.want)
		}
	}
}
