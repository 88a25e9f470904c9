package ingest_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// hear lets an instance live, and returns what it is told is refused.
func (w *world) hear(group, instance string) chan fleet.Refusal {
	w.t.Helper()
	h := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: group, Instance: instance, State: fleet.InstanceOnline, Protocol: fleet.Protocol, At: time.Now(),
	}}
	data, err := json.Marshal(h)
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(&nats.Msg{Subject: bus.SubjectHeartbeat(group, instance), Data: data}, nil)
	told := make(chan fleet.Refusal, 16)
	_, err = w.conn.NC.Subscribe(h.Address().Subject(bus.VerbRefused), func(m *nats.Msg) {
		var r fleet.Refusal
		if err := bus.CheckRequest(m); err != nil || json.Unmarshal(m.Data, &r) != nil || m.Reply == "" {
			w.t.Errorf("%s is no request: %v", m.Data, err)
		}
		told <- r
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.NC.Flush(); err != nil {
		w.t.Fatal(err)
	}
	return told
}

func reasons(told chan fleet.Refusal) (all []string) {
	for len(told) > 0 {
		r := <-told
		all = append(all, r.Stream+" "+r.Subject+": "+r.Reason)
	}
	return all
}

func TestAnInstanceIsToldWhichOfItsMessagesIsRefused(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		ours, others := w.hear("billing", "worker-1"), w.hear("orders", "worker-1")
		evt, log := bus.SubjectEvent(report.Shard(shards), "billing"), bus.SubjectLog("billing", fire{report, 0}.id())
		for _, m := range []*nats.Msg{
			bus.NewMessage(evt, "event.v9", []byte(`{"instance":"worker-1"}`)),
			bus.NewMessage(evt, "event.v9", []byte(`{"instance":"worker-1"}`)), // too soon after the first
			bus.NewMessage(evt, "event.v9", []byte(`{"instance":"worker-2"}`)), // there is none
			bus.NewMessage(evt, "event.v9", []byte(`{"instance":"worker.>"}`)),
			bus.NewMessage(evt, "event.v9", []byte(`{`)),
			bus.NewMessage(bus.SubjectRecord(1), bus.MessageRecord, []byte(`{"instance":"worker-1"`)),
		} {
			w.publish(m, nil)
		}
		time.Sleep(3 * time.Second)
		w.publish(bus.NewMessage(log, "log.v9", []byte(`{"instance":"worker-1"}`)), nil)
		time.Sleep(3 * time.Second)
		want := []string{
			`EVT ` + evt + `: Carillon-Message "event.v9" must be "event.v1"`,
			`LOG log.billing: Carillon-Message "log.v9" must be "log.v1"`,
		}
		if diff := cmp.Diff(want, reasons(ours)); diff != "" {
			t.Errorf("it is told (-want +got):\n%s", diff)
		}
		if got := reasons(others); len(got) > 0 {
			t.Errorf("another group is told %q", got)
		}
	})
}

// A flood of rubbish must neither stop ingest nor fill its memory.
func TestTellingIsBounded(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		told := w.hear("billing", "worker-1")
		evt := bus.SubjectEvent(report.Shard(shards), "billing")
		for range 500 {
			w.publish(bus.NewMessage(evt, "event.v9", []byte(`{"instance":"worker-1"}`)), nil)
		}
		good := fire{report, 0}
		w.whole(good)
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		if got := reasons(told); len(slices.Compact(got)) != 1 || len(got) > 3 {
			t.Errorf("it is told %d times", len(got))
		}
	})
}
