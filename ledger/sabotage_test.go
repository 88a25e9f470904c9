package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/scheduler"
)

// runs runs something until the test ends, or the returned function is called.
func (b *beat) runs(what string, run func(context.Context) error) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			b.Errorf("%s: %v", what, err)
		}
	}
	b.Cleanup(stop)
	return stop
}

func (b *beat) node(name string) (stop func()) {
	b.Helper()
	s, err := scheduler.New(clustertest.Open(b.T, b.broker, name), scheduler.Config{Node: name, Registerer: prometheus.NewRegistry()})
	b.check(err)
	return b.runs(name, s.Run)
}

// remove deletes the first message on a subject of a stream that is the one, as a person does.
func (b *beat) remove(stream, subject string, is func(*jet.Stored) bool) {
	b.Helper()
	var seq uint64
	b.check(b.conn.Scan(b.Context(), stream, subject, func(m *jet.Stored) bool {
		if is(m) {
			seq = m.Seq
		}
		return seq == 0
	}))
	if seq == 0 {
		b.Fatalf("there is no such message on %s", subject)
	}
	s, err := b.conn.JS.Stream(b.Context(), stream)
	b.check(err)
	b.check(s.DeleteMsg(b.Context(), seq))
}

// decides reports whether a record says something final of a step.
func decides(b *beat, step string) func(*jet.Stored) bool {
	return func(m *jet.Stored) (says bool) {
		r, err := journal.DecodeRecord(m.Header, m.Data)
		b.check(err)
		b.check(r.Each(func(d journal.Decided) { says = says || d.Step == step && d.Status.Final() }))
		return says
	}
}

// ends reports whether an event says that a run has ended.
func ends(b *beat, id job.RunID) func(*jet.Stored) bool {
	return func(m *jet.Stored) bool {
		e, err := b.conn.Tokens().DecodeEvent(m.Subject, m.Header, m.Data, m.At, b.conn.Cluster().Shards)
		b.check(err)
		return e.RunID == id && e.Kind == bus.EventFinished
	}
}

// isSteps reports whether an item says how far a run has come.
func isSteps(b *beat) func(*jet.Stored) bool {
	return func(m *jet.Stored) bool {
		d, err := journal.DecodeDeferred(m.Header, m.Data)
		b.check(err)
		return d.Kind == journal.DeferredSteps
	}
}

// TestTheLedgerNamesWhatOfAWorkflowIsDeletedByHand has workflows run, and deletes something of each from the streams before
// the history has read it. Each has a shard of its own.
func TestTheLedgerNamesWhatOfAWorkflowIsDeletedByHand(t *testing.T) {
	onPatrolOf(t, 16, func(b *beat) {
		b.check(b.conn.Groups().Setup(b.Context(), cluster.Group{Group: "g", HasRouted: true}))
		taken := map[int]bool{}
		save := func(what string) (name job.Name, shard int) {
			for n := 0; name == "" || taken[shard]; n++ {
				name = job.Name(fmt.Sprintf("g/%s%d", what, n))
				shard = name.Shard(b.conn.Cluster().Shards)
			}
			taken[shard] = true
			once, pause := at(1), stepAfter("pause", "b")
			pause.Task, pause.Wait = job.Task{}, &job.Wait{For: job.Duration(10 * time.Minute)}
			j := job.Job{Job: name, Schedule: job.Schedule{Once: &once}, Steps: []job.Step{
				stepAfter("a"), stepAfter("b", "a"), stepAfter("never", "a on failure"), pause, stepAfter("last", "pause"),
			}}
			for i := range j.Steps {
				if j.Steps[i].HasTask() {
					j.Steps[i].Task = job.Task{Handler: "h"}
				}
			}
			_, _, err := b.conn.Jobs().Put(b.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()})
			b.check(err)
			return name, shard
		}
		whole, _ := save("whole")
		record, ofRecord := save("record")
		event, ofEvent := save("event")
		item, ofItem := save("item")

		stop := b.node("first")
		e, err := executor.New(clustertest.Connect(b.T, b.broker, "executor").Conn, executor.Config{Group: "g", Instance: "e", Grace: -1})
		b.check(err)
		e.Handle("h", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
		b.runs("executor", e.Run)
		time.Sleep(2 * time.Minute)
		b.remove(b.conn.TrigOf(ofRecord), bus.SubjectRecord(ofRecord), decides(b, "never"))
		b.remove(b.conn.EvtOf(ofEvent), bus.SubjectEvent(ofEvent, "g"), ends(b, job.StepRunID(job.FireRunID(event, at(1).UnixMilli(), job.CauseSchedule), "b")))
		b.remove(b.conn.TrigOf(ofItem), bus.SubjectDeferred(ofItem), isSteps(b))
		stop()
		b.node("second")
		time.Sleep(15 * time.Minute)
		in, err := ingest.New(b.conn, b.store, ingest.Config{Node: "second", Metrics: prometheus.NewRegistry()})
		b.check(err)
		b.runs("ingest", in.Run)
		time.Sleep(time.Minute)

		l := ledger.New(b.conn, b.store, logstore.DefaultRetention())
		says := func(name job.Name, fire string, steps ...string) {
			b.Helper()
			page, err := l.Job(b.Context(), name, ledger.JobRequest{From: at(0), To: at(10), Steps: true})
			b.check(err)
			var got []string
			for _, e := range page.Items {
				got = append(got, fmt.Sprintf("%s %s", e.Outcome, e.Status))
				for _, s := range e.Steps {
					if s.Outcome == outcome.StepDiscrepancy {
						got = append(got, fmt.Sprintf("%s: %s", s.Step, s.Reason))
					}
				}
			}
			if d := cmp.Diff(slices.Concat([]string{fire}, steps), got); d != "" {
				b.Errorf("%s: %s", name, d)
			}
		}
		unknown, early := finding.StepNothingKnown.String(), finding.StepBeforeSource.With("b")
		says(whole, "ran succeeded")
		says(record, "discrepancy succeeded", "b: "+unknown, "never: "+unknown, "pause: "+early) // which also said that b began
		says(event, "discrepancy succeeded", "b: "+unknown, "pause: "+early)
		says(item, "discrepancy lost", "pause: "+unknown, "last: "+unknown)
	})
}
