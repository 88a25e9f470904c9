package cluster_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func aJob(name job.Name, cron string) job.Job {
	return job.Job{Job: name, Schedule: job.Schedule{Cron: cron}, Task: job.Task{Handler: "h"}}.WithDefaults()
}

func (w *world) put(j job.Job, e cluster.Edit) *bus.JobEntry {
	w.t.Helper()
	entry, _, err := w.conn.Jobs().Put(w.t.Context(), j, e)
	if err != nil {
		w.t.Fatal(err)
	}
	return entry
}

func TestVersionsGrowAndFollowEachOtherInTime(t *testing.T) {
	inCluster(t, func(w *world) {
		now := time.Now()
		w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: now})
		w.put(aJob("g/a", "2 * * * *"), cluster.Edit{At: now.Add(-time.Hour)}) // a clock that is behind
		w.put(aJob("g/a", "3 * * * *"), cluster.Edit{At: now})
		if err := w.conn.Jobs().Delete(w.t.Context(), "g/a", cluster.Edit{At: now}); err != nil {
			w.t.Fatal(err)
		}
		w.put(aJob("g/a", "3 * * * *"), cluster.Edit{At: now, IfAbsent: true})
		versions, err := w.conn.Jobs().Versions(w.t.Context(), "g/a")
		if err != nil || len(versions) != 5 {
			w.t.Fatalf("%d versions, %v", len(versions), err)
		}
		for i, v := range versions {
			if v.Version.Version != i+1 || v.Deleted != (i == 3) {
				w.t.Errorf("version %d is %d, deleted %v", i+1, v.Version.Version, v.Deleted)
			}
			if i > 0 && !v.EffectiveFrom.After(versions[i-1].EffectiveFrom) {
				w.t.Errorf("version %d holds from %v, the one before from %v", i+1, v.EffectiveFrom, versions[i-1].EffectiveFrom)
			}
		}
	})
}

func TestPuttingWhatIsThereChangesNothing(t *testing.T) {
	inCluster(t, func(w *world) {
		first := w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		again, changed, err := w.conn.Jobs().Put(w.t.Context(), aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		if err != nil || changed || again.Revision != first.Revision {
			w.t.Errorf("changed %v, revision %d after %d, %v", changed, again.Revision, first.Revision, err)
		}
	})
}

func TestAConditionThatDoesNotHoldIsAConflict(t *testing.T) {
	inCluster(t, func(w *world) {
		first := w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now(), IfAbsent: true})
		second := w.put(aJob("g/a", "2 * * * *"), cluster.Edit{At: time.Now(), IfRevision: first.Revision})
		try := func(what string, e cluster.Edit) {
			w.t.Helper()
			e.At = time.Now()
			if _, _, err := w.conn.Jobs().Put(w.t.Context(), aJob("g/a", "3 * * * *"), e); !errors.Is(err, job.ErrConflict) {
				w.t.Errorf("put %s: %v", what, err)
			}
			if e.IfAbsent {
				return
			}
			if err := w.conn.Jobs().Delete(w.t.Context(), "g/a", e); !errors.Is(err, job.ErrConflict) {
				w.t.Errorf("delete %s: %v", what, err)
			}
		}
		try("if absent", cluster.Edit{IfAbsent: true})
		try("if it were the first revision", cluster.Edit{IfRevision: first.Revision})
		try("if it were a later revision", cluster.Edit{IfRevision: second.Revision + 1})
		if err := w.conn.Jobs().Delete(w.t.Context(), "g/a", cluster.Edit{At: time.Now(), IfRevision: second.Revision}); err != nil {
			w.t.Error(err)
		}
		if err := w.conn.Jobs().Delete(w.t.Context(), "g/a", cluster.Edit{At: time.Now()}); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("delete what is deleted: %v", err)
		}
		if _, err := w.conn.Jobs().Get(w.t.Context(), "g/a"); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("get what is deleted: %v", err)
		}
	})
}

func TestWritersAtTheSameTimeMakeAVersionEach(t *testing.T) {
	inCluster(t, func(w *world) {
		var writers sync.WaitGroup
		for i := range 8 {
			conn := w.connect(fmt.Sprint("writer-", i))
			writers.Go(func() {
				if _, _, err := conn.Jobs().Put(w.t.Context(), aJob("g/a", fmt.Sprintf("%d * * * *", i)), cluster.Edit{At: time.Now()}); err != nil {
					w.t.Error(err)
				}
			})
		}
		writers.Wait()
		versions, err := w.conn.Jobs().Versions(w.t.Context(), "g/a")
		if err != nil || len(versions) != 8 || versions[7].Version.Version != 8 {
			w.t.Errorf("%d versions, %v", len(versions), err)
		}
	})
}

func TestOnlyTombstonesThatAreOldAreRemoved(t *testing.T) {
	inCluster(t, func(w *world) {
		for _, n := range []job.Name{"g/old", "g/back", "g/young", "g/alive"} {
			w.put(aJob(n, "1 * * * *"), cluster.Edit{At: time.Now()})
		}
		remove := func(n job.Name) {
			if err := w.conn.Jobs().Delete(w.t.Context(), n, cluster.Edit{At: time.Now()}); err != nil {
				w.t.Fatal(err)
			}
		}
		remove("g/old")
		remove("g/back")
		time.Sleep(time.Hour)
		w.put(aJob("g/back", "1 * * * *"), cluster.Edit{At: time.Now()})
		remove("g/young")
		if err := w.conn.Jobs().RemoveDeleted(w.t.Context(), time.Now().Add(-time.Minute)); err != nil {
			w.t.Fatal(err)
		}
		for n, want := range map[job.Name]int{"g/back": 3, "g/young": 2, "g/alive": 1} {
			if versions, err := w.conn.Jobs().Versions(w.t.Context(), n); err != nil || len(versions) != want {
				w.t.Errorf("%s has %d versions, want %d, %v", n, len(versions), want, err)
			}
		}
		if _, err := w.conn.Jobs().Versions(w.t.Context(), "g/old"); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("versions of a job of which none are kept: %v", err)
		}
		if e := w.put(aJob("g/old", "2 * * * *"), cluster.Edit{At: time.Now(), IfAbsent: true}); e.Version.Version != 1 {
			w.t.Errorf("a name that is free again begins at version %d", e.Version.Version)
		}
		w.put(aJob("other/job", "2 * * * *"), cluster.Edit{At: time.Now()})
		names, err := w.conn.Jobs().Names(w.t.Context(), "g")
		if d := cmp.Diff([]job.Name{"g/alive", "g/back", "g/old", "g/young"}, names); d != "" || err != nil {
			w.t.Error(d, err)
		}
		if names, err = w.conn.Jobs().Names(w.t.Context(), ""); len(names) != 5 || err != nil {
			w.t.Error(names, err)
		}
	})
}

func TestAVersionOfANewerServerIsRefused(t *testing.T) {
	inCluster(t, func(w *world) {
		w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketJobs)
		if err != nil {
			w.t.Fatal(err)
		}
		key := bus.JobKey(job.Name("g/a").Shard(4), "g/a")
		save := func(text string) {
			w.t.Helper()
			if _, err := kv.Put(w.t.Context(), key, []byte(text)); err != nil {
				w.t.Fatal(err)
			}
		}
		versions := func() (list []*bus.JobEntry) {
			w.t.Helper()
			list, err := w.conn.Jobs().Versions(w.t.Context(), "g/a")
			if err != nil {
				w.t.Fatal(err)
			}
			return list
		}
		save("no version at all")
		if n := len(versions()); n != 1 {
			w.t.Errorf("%d versions", n)
		}
		for _, schedule := range []string{`{"cron":"2 * * * *","moon":true}`, `"of a kind to come"`} {
			save(fmt.Sprintf(`{"version":2,"format":%d,"job":"g/a","schedule":%s,"task":{"handler":"h"}}`, job.VersionFormat+1, schedule))
			_, reading := w.conn.Jobs().Get(w.t.Context(), "g/a")
			_, listing := w.conn.Jobs().Versions(w.t.Context(), "g/a")
			_, _, editing := w.conn.Jobs().Put(w.t.Context(), aJob("g/a", "3 * * * *"), cluster.Edit{At: time.Now()})
			for _, err := range []error{reading, listing, editing} {
				if newer, ok := errors.AsType[*cluster.FormatError](err); !ok || *newer != (cluster.FormatError{Job: "g/a", Version: 2, Format: job.VersionFormat + 1}) || !errors.Is(err, job.ErrConflict) {
					w.t.Errorf("%v", err)
				}
			}
		}
	})
}
