package shard

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestATriggerThatIsToBeRoutedGoesToTheDispatchers(t *testing.T) {
	to := func(want string, change func(*job.Version), labels job.Labels) {
		t.Helper()
		b := newBench(t)
		v := b.put(0, 1, change)
		r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: v.Job.Job, Cause: job.CauseAPI, Labels: labels, Params: json.RawMessage(`1`)}
		if _, err := b.m.Requests.Submit(r); err != nil {
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

// The end of a run for which nobody waits may go in a pack.
func TestATriggerSaysWhereTheEndOfARunThatNobodyWatchesGoes(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*job.Version)
		want   string
	}{
		"nobody watches it":               {func(*job.Version) {}, "evt.p0.g"},
		"it has a limit of time":          {func(v *job.Version) { v.TotalTimeout = job.Duration(time.Minute) }, "evt.p0.g"},
		"another attempt may follow":      {func(v *job.Version) { v.Retry.Limit = 1 }, ""},
		"one run at a time":               {func(v *job.Version) { v.Overlap = job.Overlap{Policy: job.OverlapQueue} }, ""},
		"it is to begin in time":          {func(v *job.Version) { v.StartWithin = job.Duration(time.Minute) }, ""},
		"the job is paused when it fails": {func(v *job.Version) { v.PauseAfter = 3 }, ""},
		"the next fire waits for it":      {func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Hour)} }, ""},
	} {
		b := newBench(t)
		v := b.put(0, 1, c.change)
		if _, err := b.m.Requests.Submit(bus.TriggerRequest{RunID: job.NewRunID(noon), Job: v.Job.Job, Cause: job.CauseAPI}); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range b.m.Step(noon.Add(time.Second).UnixMilli(), bus.MaxBatch).Messages {
			if m.Header.Get(bus.HeaderMessage) != bus.MessageTrigger {
				continue
			}
			tr, err := bus.DecodeTrigger(m.Header, m.Data)
			if err != nil {
				t.Fatal(err)
			}
			if found = true; tr.Report != c.want {
				t.Errorf("%s: its end goes to %q, want %q", what, tr.Report, c.want)
			}
		}
		if !found {
			t.Errorf("%s: there is no trigger", what)
		}
	}
}

func TestATriggerHasTheFireTimeOfItsRun(t *testing.T) {
	for _, watched := range []bool{false, true} { // the item of a watched run has its trigger
		b := newBench(t)
		b.put(0, 1, func(v *job.Version) {
			v.Schedule.Zone = "Asia/Shanghai"
			v.Task = job.Task{Command: []string{"echo", "${fire_time|-1d|yyyyMMdd HH:mm}"}, Env: map[string]string{"A": "$${fire_time} ${HOME}"}}
			v.Params = json.RawMessage(`{"day":"${fire_time|yyyyMMdd}"}`)
			if watched {
				v.Retry.Limit = 1
			}
		})
		for i, params := range []string{"", `["${fire_time|UTC|HH}"]`, `"${fire_time|-1x}"`} {
			r := bus.TriggerRequest{RunID: job.NewRunID(noon.Add(time.Duration(i) * time.Hour)), Job: "g/a", Cause: job.CauseAPI, Params: json.RawMessage(params)}
			_, err := b.m.Requests.Submit(r)
			if i == 2 {
				if !errors.Is(err, job.ErrInvalid) {
					t.Errorf("%s: %v", params, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			batch := b.m.Step(r.RunID.Time().Add(time.Second).UnixMilli(), bus.MaxBatch)
			got, want := 0, []string{`{"day":"20260302"}`, `["13"]`}[i]
			for _, m := range batch.Messages {
				if tr, err := bus.DecodeTrigger(m.Header, m.Data); err == nil {
					got++
					if tr.Task.Command[1] != []string{"20260301 20:00", "20260301 21:00"}[i] || tr.Task.Env["A"] != "${fire_time} ${HOME}" || string(tr.Params) != want {
						t.Errorf("the trigger does %+v with %s", tr.Task, tr.Params)
					}
				}
			}
			if got != 1 {
				t.Errorf("%d triggers in %+v", got, batch)
			}
			b.m.Committed(uint64(i + 1))
		}
	}
}

func TestAParentsResultStaysAsItIs(t *testing.T) {
	v := &job.Version{}
	v.Job.Job, v.Task.Command = "g/a", []string{"echo", "${fire_time|yyyy}"}
	shared := journal.BodyOf(v)
	of, err := encodeBody(&shared)
	if err != nil {
		t.Fatal(err)
	}
	if of, _, err = of.withResult(json.RawMessage(`"${fire_time}"`), noon.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	again, err := of.at(noon.Add(time.Hour).UnixMilli())
	var b journal.Body
	if err := errors.Join(err, json.Unmarshal([]byte(again.text), &b)); err != nil || b.Task.Command[1] != "2026" || string(b.Params) != `"${fire_time}"` {
		t.Errorf("%s, %v", again.text, err)
	}
}
