//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

func TestDevKeepsItsHistoryInClickHouse(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	history := chtest.Start(t, chserver.Config{Dir: filepath.Join(t.TempDir(), "clickhouse")})
	d.Command = append(d.Command, "--store", history.URL("carillon"), "--no-samples")
	d.Begin(t)
	d.save(t, "hello", `"task": {"shell": "echo the quick brown fox"}`)
	id := d.run(t, "hello")
	d.awaitSuccess(t, id)
	d.awaitLog(t, id, "the quick brown fox")
	d.Kill()

	d.Begin(t)
	d.awaitSuccess(t, id)
	d.awaitLog(t, id, "the quick brown fox")
	d.awaitSuccess(t, d.run(t, "hello"))
	d.Interrupt(t)
}

// kills is how often ClickHouse is killed, or cut off, at least.
const kills = 20

func TestChaosHistoryEqualsWhatWasSentThoughClickHouseIsKilled(t *testing.T) {
	f := newFlow(t)
	f.survive(func(r *rand.Rand) error {
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		f.server.Kill()
		return f.server.Restart(t.Context())
	})
}

// A write whose connection breaks may be there, or not, or half: its runs and not their
// reports.
func TestChaosHistoryEqualsWhatWasSentThoughClickHouseIsCutOff(t *testing.T) {
	f := newFlow(t)
	f.survive(func(r *rand.Rand) error {
		f.wire.cutAfter(r.Int64N(100<<10), 2*time.Second)
		return nil
	})
}

// survive sends waves of history while harm is done, and wants all of it to be stored
// once.
func (f *flow) survive(harm func(*rand.Rand) error) {
	t := f.t
	t.Helper()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	end := time.Now().Add(processtest.ChaosFor(t, shortChaos))
	waves := 0
	for ; waves < kills || time.Now().Before(end); waves++ {
		var sending errgroup.Group
		sending.Go(func() error { return f.send(waves) })
		harmed := harm(r)
		if err := errors.Join(harmed, sending.Wait()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d, harmed %d times, sent %d runs and %d lines", seed, waves, waves*wave, f.lines)
	processtest.Await(t, processtest.Patience, "wait until all is stored", f.unstored)

	counts, err := f.store.Counts(t.Context(), logstore.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.counts, counts); diff != "" {
		t.Errorf("runs by status differ (-sent +stored):\n%s", diff)
	}
	// Rows, not what queries make of them: reports count rows as they come in.
	rows := rowsOf{t, f.server, "chaos"}
	rows.want("SELECT toUInt64(sum(sign)) FROM runs WHERE status >= 'succeeded'", f.counts[job.StatusSucceeded]+f.counts[job.StatusFailed]+f.counts[job.StatusSkipped])
	rows.want("SELECT toUInt64(sum(sign)) FROM runs", waves*wave)
	rows.want("SELECT count() FROM run_logs", f.lines)
	rows.want("SELECT uniqExact(run_id, seq) FROM run_logs", f.lines)
	for _, table := range []string{"report_minute", "report_hour", "report_day"} {
		rows.want("SELECT toUInt64(sum(succeeded)) FROM "+table, f.counts[job.StatusSucceeded])
		rows.want("SELECT toUInt64(sum(failed)) FROM "+table, f.counts[job.StatusFailed])
	}
}

// flow is a stream of history into a ClickHouse, without the programs around it.
type flow struct {
	t      *testing.T
	server *chserver.Server
	wire   *wire // between the server and the store
	store  *clickhouse.Store
	conn   *cluster.Conn
	since  time.Time          // the first fire; recent, as reports keep no others
	counts map[job.Status]int // of the runs that were sent
	lines  int
}

// wave is how many runs are sent at once.
const wave = 2000

func newFlow(t *testing.T) *flow {
	t.Helper()
	dir := t.TempDir()
	f := &flow{t: t, since: time.Now().UTC().Truncate(time.Hour).Add(-24 * time.Hour), counts: map[job.Status]int{}}
	var err error
	f.server = chtest.Start(t, chserver.Config{Dir: filepath.Join(dir, "clickhouse")})
	f.wire = newWire(t, f.server.Addr())
	address := strings.Replace(f.server.URL("chaos"), f.server.Addr(), f.wire.addr(), 1)
	if f.store, err = clickhouse.Open(address, clickhouse.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.store.Close() })
	broker, err := embedded.Start(embedded.Config{StoreDir: filepath.Join(dir, "nats"), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Shutdown() })
	f.conn, err = cluster.Connect(jet.Config{URL: broker.ClientURL(), Name: "chaos", Options: []nats.Option{nats.InProcessServer(broker)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.conn.NC.Close)
	if err := f.conn.Setup(t.Context(), cluster.Assets{TrigBytes: 256 << 20, EvtBytes: 256 << 20, LogBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	in, err := ingest.New(f.conn, f.store, ingest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("ingest: %v", err)
		}
	})
	return f
}

// send publishes all that is to be said about the runs of wave n.
func (f *flow) send(n int) error {
	shards := f.conn.Cluster().Shards
	fire := f.since.Add(time.Duration(n) * time.Minute)
	record := &journal.Record{Shard: 1, Epoch: 1, Commit: strconv.Itoa(n), Node: "a", At: fire}
	var messages []*nats.Msg
	add := func(m *nats.Msg, err error) error {
		messages = append(messages, m)
		return err
	}
	for i := range wave {
		name := job.Name(fmt.Sprintf("group-%d/job-%d", i%7, i))
		t := bus.Trigger{
			RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(shards), Attempt: 1,
			Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire,
		}
		outcome := journal.Outcome{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: fire, Jobs: []string{journal.JobVersion(name, 1)}}
		status := job.StatusSucceeded
		switch i % 10 {
		case 0:
			outcome.Status, outcome.Reason, status = job.StatusSkipped, "another is alive", job.StatusSkipped
		case 1:
			status = job.StatusPending
		case 2:
			status = job.StatusFailed
		}
		record.Outcomes = append(record.Outcomes, outcome)
		f.counts[status]++
		if status != job.StatusSucceeded && status != job.StatusFailed {
			continue
		}
		e := bus.EventOf(&t, bus.EventFinished, fire.Add(time.Second))
		e.Status, e.Instance, e.Delivery, e.StartedAt, e.FinishedAt = status, "worker-1", 1, fire, e.At
		l := &bus.Log{RunID: t.RunID, Job: name, Attempt: 1, Instance: "worker-1"}
		for seq := range int64(i%5 + 1) {
			l.Lines = append(l.Lines, bus.LogLine{Seq: seq + 1, At: fire, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "step done"})
		}
		f.lines += len(l.Lines)
		if err := errors.Join(add(bustest.Event(f.conn.Tokens(), e)), add(bustest.Log(f.conn.Tokens(), l))); err != nil {
			return err
		}
	}
	if err := add(record.Msg()); err != nil {
		return err
	}
	for _, m := range messages {
		if _, err := f.conn.JS.PublishMsgAsync(m); err != nil {
			return err
		}
	}
	<-f.conn.JS.PublishAsyncComplete()
	return nil
}

// unstored returns an error while ingest has something to do.
func (f *flow) unstored() error {
	for stream, name := range map[string]string{bus.StreamTrig: bus.ConsumerLedger, bus.StreamEvt: bus.ConsumerEvents, bus.StreamLog: bus.ConsumerLogs} {
		c, err := f.conn.JS.Consumer(f.t.Context(), stream, name)
		if err != nil {
			return err
		}
		if info := c.CachedInfo(); info.NumPending > 0 || info.NumAckPending > 0 {
			return fmt.Errorf("%s has %d messages to come and %d to be acknowledged", stream, info.NumPending, info.NumAckPending)
		}
	}
	return nil
}

// rowsOf is what a database on a ClickHouse has, past the store.
type rowsOf struct {
	t        *testing.T
	server   *chserver.Server
	database string
}

func (d rowsOf) want(query string, want int) {
	d.t.Helper()
	options, err := ch.ParseDSN(d.server.URL(d.database))
	if err != nil {
		d.t.Fatal(err)
	}
	conn, err := ch.Open(options)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var n uint64
	if err := conn.QueryRow(d.t.Context(), query).Scan(&n); err != nil || n != uint64(want) {
		d.t.Errorf("%s: %d, with %v; want %d", query, n, err, want)
	}
}
