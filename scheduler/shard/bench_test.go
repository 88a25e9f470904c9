package shard

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// herd returns a machine with n jobs that fire each minute.
func herd(tb testing.TB, n int) *Machine {
	tb.Helper()
	m := New(Config{Tokens: tokens, Shard: simShard, Epoch: 1, Node: "node-1", Planner: &job.Planner{}}, &journal.Cursor{Shard: simShard, Done: noon}, 0)
	for i := range n {
		v := &job.Version{Version: 1, EffectiveFrom: noon}
		v.Job.Job = job.Name(fmt.Sprintf("billing/job-number-%d", i))
		v.Schedule.Cron = "* * * * *"
		v.Task.Handler = "report"
		v.Job = v.WithDefaults()
		if err := m.PutVersion(v, 1); err != nil {
			tb.Fatal(err)
		}
	}
	return m
}

// BenchmarkStep decides and encodes a full batch of fires.
func BenchmarkStep(b *testing.B) {
	const jobs = bus.MaxBatch - overhead
	m := herd(b, jobs)
	now := noon.UnixMilli()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fires := 0
	seq := uint64(1)
	for b.Loop() {
		now += 60_000
		batch := m.Step(now, bus.MaxBatch)
		if batch == nil || batch.Triggers != jobs {
			b.Fatal("not all fired")
		}
		fires += batch.Triggers
		m.Committed(seq)
		seq += uint64(len(batch.Messages))
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fires), "ns/fire")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(fires), "allocs/fire")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(fires), "B/fire")
}

// BenchmarkMemory reports what a job takes in memory, its place in the ring included.
func BenchmarkMemory(b *testing.B) {
	const jobs = 100_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m := herd(b, jobs)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/jobs, "B/job")
		if m.Jobs() != jobs {
			b.Fatal("jobs are missing")
		}
		runtime.KeepAlive(m)
	}
}

// BenchmarkCatchUp decides about a job that fires ten times a second after a month
// without an owner.
func BenchmarkCatchUp(b *testing.B) {
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job, v.Task.Handler, v.Schedule.FixedRate = "g/often", "h", job.Duration(100*time.Millisecond)
	for b.Loop() {
		m := herd(b, 0)
		if err := m.PutVersion(v, 1); err != nil {
			b.Fatal(err)
		}
		if batch := m.Step(noon.AddDate(0, 1, 0).UnixMilli(), bus.MaxBatch); batch == nil {
			b.Fatal("nothing decided")
		}
	}
}
