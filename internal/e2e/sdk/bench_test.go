package sdk_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// BenchmarkNoOpRuns measures whole runs as an executor with 512 slots does them:
// pull, run nothing, store the finished event, acknowledge. The server is in the
// same process; the triggers are there before the clock starts.
func BenchmarkNoOpRuns(b *testing.B) {
	for name, inProcess := range map[string]bool{"tcp": false, "in process": true} {
		b.Run(name, func(b *testing.B) { benchmarkNoOpRuns(b, inProcess) })
	}
}

func benchmarkNoOpRuns(b *testing.B, inProcess bool) {
	b.Helper()
	srv, err := embedded.Start(embedded.Config{StoreDir: b.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = srv.Shutdown() })
	cfg := jet.Config{URL: srv.ClientURL()}
	if inProcess {
		cfg.Options = []nats.Option{nats.InProcessServer(srv)}
	}
	conn, err := cluster.Connect(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.NC.Close)
	ctx := b.Context()
	if err := conn.Setup(ctx, cluster.Assets{}); err != nil {
		b.Fatal(err)
	}
	if err := conn.Groups().Setup(ctx, cluster.Group{Group: "g", HasRouted: true}); err != nil {
		b.Fatal(err)
	}
	publishNoOps(b, conn)

	e, err := executor.New(conn.Conn, executor.Config{Group: "g", Slots: 512})
	if err != nil {
		b.Fatal(err)
	}
	e.Handle("noop", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
	ended, err := conn.NC.SubscribeSync("evt.*.g")
	if err != nil {
		b.Fatal(err)
	}
	_ = ended.SetPendingLimits(-1, -1)
	runCtx, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	b.ResetTimer()
	began := time.Now()
	go func() { stopped <- e.Run(runCtx) }()
	for range b.N {
		if _, err := ended.NextMsg(time.Minute); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "runs/s")
	b.StopTimer()
	stop()
	if err := <-stopped; err != nil {
		b.Fatal(err)
	}
}

// publishNoOps publishes b.N triggers.
func publishNoOps(b *testing.B, conn *cluster.Conn) {
	b.Helper()
	body, err := bus.TriggerBody{Task: job.Task{Handler: "noop"}}.Encode()
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for sent := 0; sent < b.N; {
		n := min(b.N-sent, bus.MaxBatch)
		batch := make([]*nats.Msg, n)
		for i := range batch {
			t := bus.Trigger{RunID: job.NewRunID(now), Job: "g/noop", Version: 1, Shard: job.Name("g/noop").Shard(cluster.DefaultShards), Attempt: 1, Cause: job.CauseAPI, FireTime: now, CommittedAt: now}
			batch[i] = bustest.Trigger(conn.Tokens(), bus.SubjectTrigger(t.Shard, "g"), &t, body)
		}
		if _, err := conn.PublishBatch(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		sent += n
	}
}
