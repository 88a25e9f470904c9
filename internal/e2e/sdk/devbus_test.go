package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/job"
)

// devBus stands in for a running Carillon in the examples: a bus in this process,
// with triggers published by hand where a scheduler would.
type devBus struct {
	srv    *embedded.Server
	conn   *jet.Conn     // an executor's
	server *cluster.Conn // the same, a server's
	dir    string
	seen   *nats.Subscription
	fired  int
}

func startDevBus() *devBus {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "carillon-example-")
	must(err)
	srv, err := embedded.Start(embedded.Config{StoreDir: dir, InProcessOnly: true})
	must(err)
	conn, err := cluster.Connect(jet.Config{Options: []nats.Option{nats.InProcessServer(srv)}})
	must(err)
	must(conn.Setup(ctx, cluster.Assets{TrigBytes: 1 << 20, EvtBytes: 1 << 20, LogBytes: 1 << 20}))
	must(conn.Groups().Setup(ctx, cluster.Group{Group: "billing", HasRouted: true}))
	seen, err := conn.NC.SubscribeSync("*.*.*")
	must(err)
	return &devBus{srv: srv, conn: conn.Conn, server: conn, dir: dir, seen: seen}
}

// fire publishes a trigger for a handler, as the scheduler does when a job is due.
func (b *devBus) fire(name job.Name, handler, params string) {
	b.fired++
	now := time.Now().UTC().Truncate(time.Millisecond).Add(time.Duration(b.fired) * time.Millisecond) // each of its own
	t := bus.Trigger{
		RunID: job.FireRunID(name, now.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(cluster.DefaultShards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: now, CommittedAt: now,
		TriggerBody: bus.TriggerBody{Task: job.Task{Handler: handler}, Params: json.RawMessage(params)},
	}
	data, err := json.Marshal(t)
	must(err)
	m := bus.NewMessage(bus.SubjectTrigger(t.Shard, t.Job.Group()), bus.MessageTrigger, data)
	m.Header.Set(bus.HeaderToken, b.server.Tokens().Trigger(&t, t.Retry.Limit > 0, now))
	_, err = b.conn.JS.PublishMsg(context.Background(), m)
	must(err)
}

// finished waits for the next run to end.
func (b *devBus) finished() *bus.Event {
	for {
		m, err := b.seen.NextMsg(5 * time.Minute)
		must(err)
		for e, err := range b.server.Events().Decode(m.Subject, m.Header, m.Data, time.Now()) {
			if err == nil && e.Kind == bus.EventFinished {
				return e
			}
		}
	}
}

// waiting returns how many triggers are on the bus.
func (b *devBus) waiting() (n int) {
	must(b.conn.Scan(context.Background(), bus.StreamTrig, "trig.>", func(*jet.Stored) bool { n++; return true }))
	return n
}

// lines waits for the next lines of a log.
func (b *devBus) lines() []bus.LogLine {
	for {
		m, err := b.seen.NextMsg(5 * time.Minute)
		must(err)
		if l, err := b.server.Events().DecodeLog(m.Subject, m.Header, m.Data); err == nil {
			return l.Lines
		}
	}
}

func (b *devBus) stop() {
	b.conn.NC.Close()
	must(errors.Join(b.srv.Shutdown(), os.RemoveAll(b.dir)))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
