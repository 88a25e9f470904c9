package shard

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestATriggerThatIsToBeRoutedGoesToTheDispatchers(t *testing.T) {
	to := func(want string, change func(*job.Version), labels job.Labels) {
		t.Helper()
		b := newBench(t)
		v := b.put(0, 1, change)
		r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: v.Job.Job, Cause: job.CauseAPI, Labels: labels, Params: json.RawMessage(`1`)}
		if _, err := b.m.Submit(r); err != nil {
			t.Fatal(err)
		}
		batch := b.m.Step(noon.Add(time.Second).UnixMilli(), bus.MaxBatch)
		msg := batch.Messages[1]
		tr, err := bus.DecodeTrigger(msg.Header, msg.Data)
		if err != nil {
			t.Fatal(err)
		}
		wantLabels := v.Labels
		if labels != nil {
			wantLabels = labels
		}
		if msg.Subject != want || tr.Labels.String() != wantLabels.String() || string(tr.Params) != "1" {
			t.Errorf("trigger on %s with labels %v, want %s with %v", msg.Subject, tr.Labels, want, wantLabels)
		}
	}
	none := func(*job.Version) {}
	eu := func(v *job.Version) { v.Labels = job.Labels{"zone": "eu"} }
	to("trig.5.any.g", none, nil)
	to("trig.5.any.g", func(v *job.Version) { v.Route = job.RouteAny }, nil)
	to("trig.5.route.g", func(v *job.Version) { v.Route = job.RouteFailover }, nil)
	to("trig.5.route.g", eu, nil)
	to("trig.5.route.g", eu, job.Labels{"zone": "us"})
	to("trig.5.route.g", none, job.Labels{"zone": "us"})
}
