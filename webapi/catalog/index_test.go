package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func entryOf(name job.Name, revision uint64, change func(*job.Version)) *bus.JobEntry {
	e := &bus.JobEntry{Revision: revision, Version: job.Version{Version: 1, Job: job.Job{Job: name, Task: job.Task{Shell: "echo hello"}}}}
	e.Schedule = job.Schedule{Cron: "0 3 * * *", Zone: "UTC"}
	if change != nil {
		change(&e.Version)
	}
	return e
}

func emptyIndex() *index { return newIndex(nil, func(job.Name) {}, slog.New(slog.DiscardHandler)) }

func listed(t *testing.T, x *index, q query) []job.Name {
	t.Helper()
	q.limit = 1000
	page, _, _, err := x.find(local(t.Context()), q)
	if err != nil {
		t.Fatal(err)
	}
	var names []job.Name
	for _, e := range page {
		names = append(names, e.Job.Job)
	}
	return names
}

func TestAnOlderEntryNeverReplacesANewerOne(t *testing.T) {
	x := emptyIndex()
	x.finishLoading()
	write := func(revision uint64, deleted bool) {
		t.Helper()
		if err := x.wrote(entryOf("a/x", revision, func(v *job.Version) { v.Deleted = deleted; v.Version = int(revision) })); err != nil {
			t.Fatal(err)
		}
	}
	write(5, false)
	write(3, false) // the watch comes after the answer to our own write
	page, _, _, err := x.find(local(t.Context()), query{limit: 1})
	if err != nil || page[0].Revision != 5 || page[0].Version.Version != 5 {
		t.Errorf("%+v, %v", page[0], err)
	}
	write(7, true)
	write(5, false)
	if got := listed(t, x, query{}); got != nil {
		t.Errorf("deleted, but listed: %v", got)
	}
	write(9, false)
	if got := listed(t, x, query{}); len(got) != 1 {
		t.Errorf("made again, but listed: %v", got)
	}
}

func TestAListWaitsUntilTheJobsAreLoaded(t *testing.T) {
	x := emptyIndex()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := x.find(ctx, query{limit: 1}); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("before: %v", err)
	}
	x.finishLoading()
	x.finishLoading() // the watch was made anew
	if _, _, _, err := x.find(local(t.Context()), query{limit: 1}); err != nil {
		t.Errorf("after: %v", err)
	}
}

func TestTheIndexAgreesWithAPlainMap(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		x, plain := emptyIndex(), map[job.Name]bool{}
		loaded := r.IntN(200)
		for revision := range 200 {
			if revision == loaded {
				x.finishLoading()
			}
			name := job.Name([]string{"a", "a-b", "a0", "ab"}[r.IntN(4)] + "/" + string(rune('a'+r.IntN(10))))
			deleted := r.IntN(3) == 0
			if err := x.wrote(entryOf(name, uint64(revision+1), func(v *job.Version) { v.Deleted = deleted })); err != nil {
				t.Fatal(err)
			}
			if plain[name] = true; deleted {
				delete(plain, name)
			}
		}
		x.finishLoading()
		if d := cmp.Diff(slices.Sorted(maps.Keys(plain)), listed(t, x, query{})); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		var ofA []job.Name
		for _, name := range slices.Sorted(maps.Keys(plain)) {
			if name.Group() == "a" {
				ofA = append(ofA, name)
			}
		}
		if d := cmp.Diff(ofA, listed(t, x, query{group: "a"})); d != "" {
			t.Fatalf("seed %d: of group a: %s", seed, d)
		}
	}
}

// A page out of 100,000 jobs: the first, the last, and one that is searched for.
func BenchmarkList100000(b *testing.B) {
	x := emptyIndex()
	for i := range 100_000 {
		name := job.Name(fmt.Sprintf("group-%02d/job-%05d", i%50, i))
		if err := x.wrote(entryOf(name, uint64(i+1), nil)); err != nil {
			b.Fatal(err)
		}
	}
	x.finishLoading()
	for _, c := range []struct {
		name string
		q    query
	}{
		{"first", query{limit: 100}},
		{"last", query{limit: 100, after: "group-49/job-99000"}},
		{"group", query{limit: 100, group: "group-07"}},
		{"search", query{limit: 100, text: "job-9999"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, _, err := x.find(b.Context(), c.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTheIndexForgetsTombstonesThatTheWatchHasPassed(t *testing.T) {
	x := emptyIndex()
	x.finishLoading()
	const deleted = 2 * maxTombs
	name := func(i int) job.Name { return job.Name(fmt.Sprintf("a/x%d", i)) }
	for i := range deleted {
		x.put(name(i), &indexed{revision: uint64(2*i + 2), deleted: true})
	}
	x.passed(3) // it lags behind this server's own writes
	if n := len(x.jobs); n != deleted-1 {
		t.Errorf("%d tombstones are kept, want %d: older entries are still to come", n, deleted-1)
	}
	x.put(name(deleted-1), indexOf(entryOf(name(deleted-1), 2*deleted-1, nil), nil))
	if n := x.len(); n != 0 {
		t.Errorf("%d jobs came back from the dead", n)
	}
	x.passed(2 * deleted)
	if n := len(x.jobs); n != maxTombs {
		t.Errorf("%d tombstones are kept, want %d", n, maxTombs)
	}
	if n := len(x.tombs); n != maxTombs {
		t.Errorf("%d tombstones are listed, want %d", n, maxTombs)
	}
}
