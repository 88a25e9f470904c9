package shard

import (
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// countOf plays the ends of runs of a job that is to be paused after three failures in a row, each in a
// batch of its own, and returns the kinds of the items that these write.
func countOf(t *testing.T, fl *Failures, ends ...job.Status) (kinds []journal.DeferredKind) {
	t.Helper()
	rules := &job.Plan{Rules: &job.Rules{Reactions: job.Reactions{PauseAfter: 3}}}
	for seq, s := range ends {
		b := newBuilder(fl.cfg, fl.items, newCluster(), noon.UnixMilli(), bus.MaxBatch)
		a := &watchedRun{jobID: 7, job: "g/a", attempt: attempt{runID: "r"}}
		fl.count(b, a, s, rules)
		for _, m := range b.messages {
			d, err := journal.DecodeDeferred(m.Header, m.Data)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, d.Kind)
		}
		for _, i := range b.placed {
			fl.items.stored(i, uint64(100+seq))
		}
	}
	return kinds
}

func newFailures() *Failures {
	return &Failures{cfg: &Config{Shard: simShard}, items: &items{}, byJob: map[uint32]*failureCount{}}
}

func TestFailuresInARowAreCountedUpToThePause(t *testing.T) {
	fl := newFailures()
	got := countOf(t, fl, job.StatusFailed, job.StatusLost, job.StatusCancelled, job.StatusTimedOut)
	want := []journal.DeferredKind{journal.DeferredFailures, journal.DeferredFailures, journal.DeferredPause}
	if !slices.Equal(got, want) {
		t.Errorf("the batches have %v, want %v", got, want)
	}
	if p := fl.Pauses(); len(p) != 1 || p[0].Job != "g/a" || len(fl.byJob) != 0 {
		t.Errorf("to pause: %v, counts: %v", p, fl.byJob)
	}
	if want := []uint64{100, 101}; !slices.Equal(fl.items.due, want) {
		t.Errorf("released %v, want the two counts %v", fl.items.due, want)
	}
}

func TestASuccessEndsARowOfFailures(t *testing.T) {
	fl := newFailures()
	countOf(t, fl, job.StatusFailed, job.StatusFailed, job.StatusSucceeded, job.StatusFailed, job.StatusFailed)
	if len(fl.Pauses()) != 0 || fl.byJob[7].n != 2 {
		t.Errorf("to pause: %v, count %d, want none and 2", fl.Pauses(), fl.byJob[7].n)
	}
}
