package ingest

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// BenchmarkDecode decodes what a plain run makes: a line of a record of a hundred,
// and one event.
func BenchmarkDecode(b *testing.B) {
	const shards, lines = 64, 100
	name := job.Name("billing/report")
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	record := &journal.Record{Shard: name.Shard(shards), Node: "a", At: fire}
	o := journal.Outcome{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: fire}
	for range lines {
		o.Jobs = append(o.Jobs, journal.JobVersion(name, 3))
	}
	record.Outcomes = append(record.Outcomes, o)
	m, err := record.Msg()
	if err != nil {
		b.Fatal(err)
	}
	trig := &message{subject: m.Subject, header: m.Header, data: m.Data}

	tokens := bus.NewTokens()
	e := bus.EventOf(&bus.Trigger{
		RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Shard: name.Shard(shards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire,
	}, bus.EventFinished, fire.Add(time.Second))
	e.Status, e.Instance, e.Delivery, e.StartedAt, e.FinishedAt = job.StatusSucceeded, "worker-1", 1, fire, fire.Add(time.Second)
	if m, err = bustest.Event(tokens, e); err != nil {
		b.Fatal(err)
	}
	evt := &message{subject: m.Subject, header: m.Header, data: m.Data}

	said := decoder{tokens, 1, shards}
	for b.Loop() {
		batch := &batch{}
		decodeRecord(batch, trig)
		for range lines {
			said.event(batch, evt)
		}
		if len(batch.updates) != 2*lines || len(batch.refused) != 0 {
			b.Fatalf("%d updates, refused %v", len(batch.updates), batch.refused)
		}
	}
	b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "runs/s")
}
