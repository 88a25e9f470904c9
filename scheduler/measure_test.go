package scheduler_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// gauges returns what a node shows, by name and the value of the only label.
func gauges(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				name = append(name, l.GetValue())
			}
			all[strings.Join(name, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

func TestANodeShowsWhatItAndTheClusterAreLike(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * *"}, func(j *job.Job) { j.Misfire.Policy = job.MisfireSkip })
		w.put("g/b", job.Schedule{Cron: "* * * * *"}, func(j *job.Job) { j.Misfire.Policy = job.FireOnce })
		data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: "g", Instance: "i", State: fleet.InstanceOnline, Protocol: fleet.Protocol, Slots: 8, Running: 3}})
		if err != nil {
			w.t.Fatal(err)
		}
		kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketInst)
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(4 * time.Minute)
		if _, err := kv.Put(w.t.Context(), "g.i", data); err != nil {
			w.t.Fatal(err)
		}
		if _, err := kv.Put(w.t.Context(), "g.x", []byte("rubbish")); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		got := gauges(w.t, w.nodes["a"].metrics)
		for name, want := range map[string]float64{
			"carillon_shards_owned": float64(w.conn.Cluster().Shards), "carillon_ring_jobs": 2, "carillon_group_pending_triggers g": float64(len(w.triggers())),
			"carillon_group_instances g": 1, "carillon_group_slots g": 8, "carillon_group_slots_in_use g": 3, "carillon_group_keys INST g": 2, "carillon_group_unreadable_heartbeats g": 1,
			"carillon_misfires_total skip": 0, "carillon_misfires_total fire_once": 0,
		} {
			if value, shown := got[name]; !shown || value != want {
				w.t.Errorf("%s is %v (%v), want %v", name, value, shown, want)
			}
		}
		if left := got["carillon_lease_remaining_seconds"]; left < 2 || left > 4.5 {
			w.t.Errorf("leases last %v s", left)
		}
		if got["carillon_stream_bytes TRIG"] == 0 || got["carillon_stream_limit_bytes TRIG"] == 0 {
			w.t.Errorf("stream TRIG has %v of %v bytes", got["carillon_stream_bytes TRIG"], got["carillon_stream_limit_bytes TRIG"])
		}
		w.stopNode("a")
		time.Sleep(10 * time.Minute)
		w.startNode("b")
		time.Sleep(time.Minute)
		got = gauges(w.t, w.nodes["b"].metrics)
		if got["carillon_misfires_total skip"] < 9 || got["carillon_misfires_total fire_once"] < 9 {
			w.t.Errorf("after ten minutes without a node, misfires are %v and %v", got["carillon_misfires_total skip"], got["carillon_misfires_total fire_once"])
		}
	})
}

func TestAStreamThatDoesNotAnswerHidesNoMeasureOfTheOthers(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		time.Sleep(time.Minute)
		if err := w.conn.JS.DeleteStream(w.t.Context(), bus.StreamEvt); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.conn.JS.Publish(w.t.Context(), "log.g.r", []byte("x")); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if got := gauges(w.t, w.nodes["a"].metrics)["carillon_stream_messages LOG"]; got != 1 {
			w.t.Errorf("LOG has %v messages; want 1", got)
		}
	})
}

func TestAStreamThatDoesNotAnswerKeepsItsShareOfAGroup(t *testing.T) {
	runPartitioned(t, start, 3, partitions, func(w *world) {
		w.startNode("a")
		trigger := func(shard int) {
			if _, err := w.conn.JS.Publish(w.t.Context(), bus.SubjectTrigger(shard, "g"), nil); err != nil {
				w.t.Fatal(err)
			}
		}
		want := func(pending float64) {
			t.Helper()
			time.Sleep(time.Minute)
			if got := gauges(w.t, w.nodes["a"].metrics)["carillon_group_pending_triggers g"]; got != pending {
				t.Errorf("%v triggers wait; want %v", got, pending)
			}
		}
		if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
			t.Fatal(err)
		}
		trigger(0)
		trigger(1)
		want(2)
		w.broker.Silence("TRIG1")
		trigger(2)
		want(3)
		trigger(1)
		w.broker.Silence("")
		want(4)
	})
}
