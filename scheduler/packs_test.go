package scheduler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// takesPacks writes the heartbeat of an instance of group "g" that takes packs of so many triggers.
func (w *world) takesPacks(instance string, size int) {
	w.t.Helper()
	data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Pack: size, Instance: fleet.Instance{
		Group: "g", Instance: instance, State: fleet.InstanceOnline, Protocol: fleet.Protocol, At: time.Now(),
	}})
	if err == nil {
		_, err = w.conn.JS.Publish(w.t.Context(), bus.SubjectHeartbeat("g", instance), data)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Second) // until owners have heard of it
}

// sizes returns how many triggers of group g each message has, in order, and forgets the messages.
func (w *world) sizes() (all []int) {
	w.t.Helper()
	w.scan("trig.>", func(m *jet.Stored) {
		triggers, err := bus.DecodeTriggers(m.Header, m.Data)
		if err != nil {
			w.t.Error(err)
		}
		all = append(all, len(triggers))
		if err := w.conn.Remove(w.t.Context(), bus.StreamTrig, m.Seq); err != nil {
			w.t.Error(err)
		}
	})
	return all
}

// putInShard saves n jobs of group g that fire at the same instants, all of the shard of job g/a.
func (w *world) putInShard(word string, n int, s job.Schedule, change ...func(*job.Job)) {
	w.t.Helper()
	shards := w.conn.Cluster().Shards
	for i := 0; n > 0; i++ {
		if name := job.Name(fmt.Sprintf("g/%s%d", word, i)); name.Shard(shards) == job.Name("g/a").Shard(shards) {
			w.put(name, s, change...)
			n--
		}
	}
}

func TestRunsThatNobodyWatchesShareAMessageIfAllInstancesTakePacks(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		everyMinute := job.Schedule{Cron: "* * * * *"}
		w.putInShard("j", 7, everyMinute)
		w.putInShard("once", 2, everyMinute, func(j *job.Job) { j.Delivery = job.AtMostOnce })
		w.putInShard("watched", 2, everyMinute, func(j *job.Job) { j.PauseAfter = 100 })
		w.putInShard("routed", 2, everyMinute, func(j *job.Job) { j.Route = job.RouteFirst })
		for _, c := range []struct {
			instances []int // how many triggers each takes in one message
			want      []int
		}{
			{nil, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
			{[]int{4}, []int{1, 1, 1, 1, 1, 1, 3, 4}},
			{[]int{4, 3}, []int{1, 1, 1, 1, 1, 1, 1, 3, 3}},
			{[]int{4, 0}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		} {
			w.sleepUntilSecond(50)
			for i, size := range c.instances {
				w.takesPacks(strconv.Itoa(i), size)
			}
			w.sleepUntilSecond(5)
			got := w.sizes()
			if slices.Sort(got); !slices.Equal(got, c.want) {
				w.t.Errorf("instances that take %v: triggers in messages: %v, want %v", c.instances, got, c.want)
			}
		}
	})
}

// sleepUntilSecond sleeps until a second of a minute.
func (w *world) sleepUntilSecond(second int) {
	time.Sleep(time.Duration((second+60-time.Now().Second())%60) * time.Second)
}

func TestCancellingARunInAPackDoesNotTouchTheOthers(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * *"})
		w.putInShard("j", 3, job.Schedule{Cron: "* * * * *"})
		w.sleepUntilSecond(50)
		w.takesPacks("x", 4)
		w.sleepUntilSecond(5)
		var ids []job.RunID
		var of job.RunID
		messages := 0
		w.scan("trig.>", func(m *jet.Stored) {
			messages++
			all, err := bus.DecodeTriggers(m.Header, m.Data)
			if err != nil {
				w.t.Error(err)
			}
			for _, tr := range all {
				if ids = append(ids, tr.RunID); tr.Job == "g/a" {
					of = tr.RunID
				}
			}
		})
		if messages != 1 || len(ids) != 4 {
			w.t.Fatalf("%d triggers in %d messages, want 4 in 1", len(ids), messages)
		}
		reply, err := w.cancel(of)
		if err != nil || reply.Found != job.StatusPending {
			w.t.Errorf("reply %+v, %v", reply, err)
		}
		left := w.triggers()
		slices.Sort(left)
		want := slices.DeleteFunc(ids, func(id job.RunID) bool { return id == of })
		if slices.Sort(want); !slices.Equal(left, want) {
			w.t.Errorf("triggers %v, want %v", left, want)
		}
		if events := w.events(); len(events) != 1 || events[0].RunID != of || events[0].Status != job.StatusCancelled {
			w.t.Errorf("events %+v", events)
		}
	})
}
