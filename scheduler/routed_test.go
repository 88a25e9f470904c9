package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

// wantConsumers checks which consumers group g has on each stream of triggers.
func (w *world) wantConsumers(want ...string) {
	w.t.Helper()
	for _, name := range w.conn.Trigs() {
		stream, err := w.conn.JS.Stream(w.t.Context(), name)
		if err != nil {
			w.t.Fatal(err)
		}
		var got []string
		list := stream.ConsumerNames(w.t.Context())
		for consumer := range list.Name() {
			if bus.GroupOfConsumer(name, consumer) == "g" {
				got = append(got, consumer)
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" || list.Err() != nil {
			w.t.Errorf("consumers on %s (-want +got): %s %v", name, d, list.Err())
		}
	}
}

// withCrew runs f in a world of two partitions with a node, and with the instances "a", in zone eu, and
// "b" of group g, which has had no routed run.
func withCrew(t *testing.T, f func(w *world, c *crew)) {
	t.Helper()
	runPartitioned(t, start, 8, 2, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		c.join("a", job.Labels{"zone": "eu"}, work(time.Millisecond))
		c.join("b", nil, work(time.Millisecond))
		time.Sleep(30 * time.Second)
		w.wantConsumers("any-g")
		f(w, c)
	})
}

// begun returns how many runs have begun.
func (c *crew) begun() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.did)
}

func inZone(j *job.Job) { j.Labels = job.Labels{"zone": "eu"} }

// request asks for a run of a job now, for which the request may choose the instance.
func (w *world) request(name job.Name, revision uint64, labels job.Labels) {
	w.t.Helper()
	r := bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: name, Cause: job.CauseManual, By: "ann", Labels: labels}
	err := w.conn.Shards().AskOwner(w.t.Context(), name, "trigger", revision, r, &bus.TriggerReply{}, 5*time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAGroupWithoutRoutedJobsHasOneConsumerOnEachStream(t *testing.T) {
	withCrew(t, func(w *world, c *crew) {
		for _, name := range w.everywhere() {
			w.put(name, cron("30 * * * * ?"))
		}
		w.startNode("n2")
		time.Sleep(time.Minute)
		w.wantConsumers("any-g")
		if n := c.begun(); n != 8 {
			w.t.Errorf("%d runs of 8 jobs", n)
		}
	})
}

func TestJobsThatGetARouteRunWithinSeconds(t *testing.T) {
	withCrew(t, func(w *world, c *crew) {
		names := w.everywhere()
		for _, name := range names {
			w.request(name, w.put(name, job.Schedule{}, inZone), nil)
		}
		time.Sleep(3 * time.Second)
		c.wantDone(slices.Repeat([]string{"a 0/1 1"}, len(names))...)
		w.wantConsumers("any-g", "route-g")
	})
}

func TestARunOnAChosenInstanceOfAJobWithoutARouteBeginsWithinSeconds(t *testing.T) {
	withCrew(t, func(w *world, c *crew) {
		names := w.everywhere()
		for _, name := range names {
			w.put(name, job.Schedule{})
		}
		time.Sleep(time.Second)
		w.wantConsumers("any-g")
		w.request(names[1], 0, job.Labels{"zone": "eu"}) // of the second partition
		time.Sleep(3 * time.Second)
		c.wantDone("a 0/1 1")
		w.wantConsumers("any-g", "route-g")
		w.request(names[0], 0, job.Labels{"zone": "eu"})
		time.Sleep(time.Second)
		c.wantDone("a 0/1 1", "a 0/1 1")
	})
}

// A node may die after it has stored a trigger.
func TestARoutedTriggerThatNobodyHasNotedRunsWithinHalfAMinute(t *testing.T) {
	withCrew(t, func(w *world, c *crew) {
		now := time.Now().UTC()
		for shard, name := range w.everywhere()[:2] { // one of each partition
			tr := &bus.Trigger{
				RunID: job.NewRunID(now), Job: name, Version: 1, Shard: shard, Attempt: 1, Cause: job.CauseManual, FireTime: now, CommittedAt: now,
				TriggerBody: bus.TriggerBody{Delivery: job.AtLeastOnce, Labels: job.Labels{"zone": "eu"}, Task: job.Task{Handler: "h"}},
			}
			body, err := tr.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.conn.JS.PublishMsg(w.t.Context(), bustest.Trigger(w.conn.Tokens(), bus.SubjectRouted(shard, "g"), tr, body)); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(30 * time.Second)
		c.wantDone("a 0/1 1", "a 0/1 1")
		w.wantConsumers("any-g", "route-g")
	})
}

func TestAGovernedGroupWithoutRoutedJobsHasAllConsumers(t *testing.T) {
	withCrew(t, func(w *world, c *crew) {
		w.request("g/a", w.put("g/a", job.Schedule{}, func(j *job.Job) { j.Priority = job.PriorityHigh }), nil)
		w.request("g/b", w.put("g/b", job.Schedule{}), nil)
		time.Sleep(10 * time.Second)
		if n := c.begun(); n != 2 {
			w.t.Errorf("%d runs, want 2", n)
		}
		w.wantConsumers("any-g", "high-g", "low-g", "route-g")
	})
}
