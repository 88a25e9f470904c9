package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

func TestAStandbyKeepsOfEachJobWhatTheBucketDoes(t *testing.T) {
	planner := &job.Planner{}
	b := &shardJobs{}
	put := func(name job.Name, versions ...int) {
		for _, n := range versions {
			v := &job.Version{
				Job:     job.Job{Job: name, Schedule: job.Schedule{FixedRate: job.Duration(time.Second)}, Task: job.Task{Handler: "h"}}.WithDefaults(),
				Version: n, EffectiveFrom: time.UnixMilli(int64(n)),
			}
			p, err := shard.Prepare(planner, v, uint64(len(b.changes)+1))
			if err != nil {
				t.Fatal(err)
			}
			b.changes = append(b.changes, p)
		}
	}
	put("g/kept", 1)
	put("g/gone", 1, 2)
	put("g/back", 1, 2)
	b.changes = append(b.changes, shard.PrepareForget("g/gone", 6), shard.PrepareForget("g/back", 7))
	put("g/back", 1)
	for n := range bus.JobHistory + 5 {
		put("g/edited", n+1)
	}
	put("g/kept", 2)

	count := func() map[job.Name]int {
		n := map[job.Name]int{}
		for i := range b.changes {
			n[b.changes[i].Name()]++
		}
		return n
	}
	b.dropLocked()
	want := map[job.Name]int{"g/kept": 2, "g/back": 1, "g/edited": bus.JobHistory}
	if diff := cmp.Diff(want, count()); diff != "" {
		t.Errorf("versions kept (-want +got):\n%s", diff)
	}
	m := shard.New(shard.Config{Tokens: bus.NewTokens(), Planner: planner}, &journal.Cursor{}, 0)
	for i := range b.changes {
		m.Put(&b.changes[i])
	}
	if m.Jobs() != 3 {
		t.Errorf("a machine has %d jobs of %s", m.Jobs(), fmt.Sprint(count()))
	}
}
