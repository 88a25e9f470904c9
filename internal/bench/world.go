package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler"
)

// benchWorld is a server, or a cluster of them, on a temporary directory, and what a bench starts on it.
type benchWorld struct {
	dir     string
	servers []*embedded.Server
	joined  int // how many connections there were; each is to the next server
	conn    *cluster.Conn
	nodes   []*benchNode
	route   job.Route // of the jobs that seed saves; empty is any
	change  func(*job.Job)
}

// newBenchWorld starts a server. shards is how many the cluster has; 0 is the default.
func newBenchWorld(ctx context.Context, shards int) (*benchWorld, error) {
	return startWorld(ctx, 1, "", cluster.Assets{Shards: shards})
}

// world starts the servers that --replicas and --nats-config ask for.
func (o benchOptions) world(ctx context.Context) (*benchWorld, error) {
	if o.replicas != 1 && o.replicas != 3 && o.replicas != 5 {
		return nil, cli.Usage(fmt.Errorf("--replicas must be 1, 3 or 5, not %d", o.replicas))
	}
	if o.replicas > 1 && o.nats != "" {
		return nil, cli.Usage(errors.New("--replicas starts servers of its own, so leave out --nats-config"))
	}
	return startWorld(ctx, o.replicas, o.nats, cluster.Assets{Replicas: o.replicas, Partitions: bus.Partitions(o.partitions)})
}

func startWorld(ctx context.Context, servers int, config string, assets cluster.Assets) (*benchWorld, error) {
	dir, err := os.MkdirTemp("", "carillon-bench-")
	if err != nil {
		return nil, err
	}
	w := &benchWorld{dir: dir}
	if w.servers, err = startServers(ctx, dir, servers, config); err == nil {
		err = w.setUp(ctx, assets)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// setUp makes the streams.
func (w *benchWorld) setUp(ctx context.Context, assets cluster.Assets) error {
	conn, err := w.connect(ctx, "bench")
	if err != nil {
		return err
	}
	w.conn = conn
	assets.TrigBytes, assets.EvtBytes = 16<<30, 16<<30
	return w.conn.Setup(ctx, assets)
}

func (w *benchWorld) connect(ctx context.Context, name string) (*cluster.Conn, error) {
	server := w.servers[w.joined%len(w.servers)]
	w.joined++
	conn, err := cluster.Connect(jet.Config{URL: server.ClientURL(), Name: name, Options: []nats.Option{nats.InProcessServer(server)}})
	if err != nil {
		return nil, err
	}
	if w.conn != nil {
		if err := conn.Open(ctx); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

func (w *benchWorld) close() {
	for _, n := range w.nodes { // a measurement that was given up has not closed them
		n.kill()
	}
	if w.conn != nil {
		w.conn.NC.Close()
	}
	_ = stopServers(w.servers)
	_ = os.RemoveAll(w.dir)
}

// everySecond returns the schedules of jobs that each fire every period seconds, from an
// instant on. Each second has as many fires as any other.
func everySecond(from time.Time, period int) func(i int) job.Schedule {
	return func(i int) job.Schedule {
		anchor := from.Add(time.Duration(i%period) * time.Second)
		return job.Schedule{FixedRate: job.Duration(time.Duration(period) * time.Second), Anchor: &anchor}
	}
}

// seed saves n jobs at once, as version 1, without the checks of the API.
func (w *benchWorld) seed(ctx context.Context, n int, from time.Time, schedule func(i int) job.Schedule) error {
	if err := w.conn.Groups().Ensure(ctx, "bench"); err != nil {
		return err
	}
	shards := w.conn.Cluster().Shards
	js, err := jetstream.New(w.conn.NC, jetstream.WithPublishAsyncMaxPending(4000))
	if err != nil {
		return err
	}
	for i := range n {
		j := job.Job{
			Job: benchJob(i), Schedule: schedule(i), Task: job.Task{Handler: "noop"}, Route: w.route,
			Misfire: job.Misfire{Policy: job.FireAll, Grace: job.Duration(time.Hour)},
		}
		if w.change != nil {
			w.change(&j)
		}
		j = j.WithDefaults()
		data, err := json.Marshal(job.Version{Job: j, Version: 1, EffectiveFrom: from})
		if err != nil {
			return err
		}
		key := fmt.Sprintf("$KV.%s.%d.%s.%s", bus.BucketJobs, j.Job.Shard(shards), j.Job.Group(), j.Job.Short())
		if _, err := js.PublishAsync(key, data, jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func benchJob(i int) job.Name { return job.Name("bench/job-" + strconv.Itoa(i)) }

// benchNode is a scheduler node within the process.
type benchNode struct {
	*scheduler.Scheduler
	metrics *prometheus.Registry
	conn    *cluster.Conn
	stop    context.CancelFunc
	done    chan error
}

func (w *benchWorld) startNode(ctx context.Context, name string) (*benchNode, error) {
	conn, err := w.connect(ctx, name)
	if err != nil {
		return nil, err
	}
	metrics := prometheus.NewRegistry()
	s, err := scheduler.New(conn, scheduler.Config{Node: name, Registerer: metrics, GroupWaiting: math.MaxInt32})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	n := &benchNode{Scheduler: s, metrics: metrics, conn: conn, stop: stop, done: make(chan error, 1)}
	w.nodes = append(w.nodes, n)
	go func() { n.done <- s.Run(ctx) }()
	return n, nil
}

// startNodes starts so many nodes, and waits until they fire for all shards.
func (w *benchWorld) startNodes(ctx context.Context, n int) ([]*benchNode, error) {
	nodes := make([]*benchNode, n)
	for i := range nodes {
		var err error
		if nodes[i], err = w.startNode(ctx, "bench-"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	return nodes, poll(ctx, func() (bool, error) {
		owned := 0
		for _, n := range nodes {
			select {
			case err := <-n.done:
				return false, fmt.Errorf("node ended: %w", err)
			default:
				owned += n.Owned()
			}
		}
		return owned == w.conn.Cluster().Shards, nil
	})
}

func (n *benchNode) close() error {
	n.stop()
	err := <-n.done
	n.conn.NC.Close()
	return err
}

// kill ends a node as SIGKILL would: nothing is released.
func (n *benchNode) kill() {
	n.conn.NC.Close()
	n.stop()
}

// owns waits until the node fires for all shards.
func (n *benchNode) owns(ctx context.Context, shards int) error {
	return poll(ctx, func() (bool, error) {
		select {
		case err := <-n.done:
			return false, fmt.Errorf("node ended: %w", err)
		default:
			return n.Owned() == shards, nil
		}
	})
}

// standsBy returns for how many shards of others the node is ready.
func (n *benchNode) standsBy() (int, error) {
	families, err := n.metrics.Gather()
	if err != nil {
		return 0, err
	}
	for _, f := range families {
		if f.GetName() == "carillon_standby_shards" {
			return int(f.GetMetric()[0].GetGauge().GetValue()), nil
		}
	}
	return 0, nil
}

// poll waits for a condition.
func poll(ctx context.Context, ok func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// audit compares the triggers on the stream with the fires that the jobs had after
// from, up to the position of each job's shard.
func (w *benchWorld) audit(ctx context.Context, n int, from time.Time, schedule func(i int) job.Schedule) (count, lost, doubled int, err error) {
	shards := w.conn.Cluster().Shards
	cursors := make([]*journal.Cursor, shards)
	for s := range shards {
		m, err := w.conn.Last(ctx, w.conn.TrigOf(s), bus.SubjectCursor(s))
		if err != nil {
			return 0, 0, 0, err
		}
		if cursors[s], err = journal.DecodeCursor(m.Header, m.Data); err != nil {
			return 0, 0, 0, err
		}
	}
	seen := map[job.RunID]int{}
	for _, stream := range w.conn.Trigs() {
		if err := w.conn.Scan(ctx, stream, "trig.>", func(m *jet.Stored) bool {
			var t struct {
				RunID job.RunID `json:"run_id"`
			}
			if json.Unmarshal(m.Data, &t) == nil {
				seen[t.RunID]++
				count++
			}
			return true
		}); err != nil {
			return 0, 0, 0, err
		}
	}
	planner := &job.Planner{}
	for i := range n {
		name := benchJob(i)
		plan, err := planner.Plan(&job.Version{Job: job.Job{Job: name, Schedule: schedule(i)}, EffectiveFrom: from})
		if err != nil {
			return 0, 0, 0, err
		}
		job.History{plan}.Fires(0, from.UnixMilli(), cursors[name.Shard(shards)].DoneFor(name).UnixMilli(), func(f job.Fire) bool {
			id := job.FireRunID(name, f.At, job.CauseSchedule)
			if seen[id] == 0 {
				lost++
			}
			delete(seen, id)
			doubled += max(0, seen[id]-1)
			return true
		})
	}
	return count, lost, doubled + len(seen), nil
}

// rawBatches measures atomic batches of 1000 messages like sample on a stream of
// their own, for a few seconds, and returns messages per second.
func (w *benchWorld) rawBatches(ctx context.Context, sample []byte, runFor time.Duration) (float64, error) {
	_, err := w.conn.JS.CreateStream(ctx, jetstream.StreamConfig{
		Name: "RAW", Subjects: []string{"raw.*.any.*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		AllowAtomicPublish: true, Discard: jetstream.DiscardNew, MaxBytes: 8 << 30, Replicas: len(w.servers),
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.conn.JS.DeleteStream(context.WithoutCancel(ctx), "RAW") }()
	began, n := time.Now(), 0
	for time.Since(began) < runFor {
		if _, err := w.conn.PublishBatch(ctx, rawBatch(sample, bus.MaxBatch)); err != nil {
			return 0, err
		}
		n += bus.MaxBatch
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// rawBatch returns n messages like sample for the stream of a raw measurement.
func rawBatch(sample []byte, n int) []*nats.Msg {
	batch := make([]*nats.Msg, n)
	for i := range batch {
		batch[i] = bus.NewMessage("raw."+strconv.Itoa(i%64)+".any.bench", bus.MessageTrigger, slices.Clone(sample))
	}
	return batch
}

// sampleTrigger is a trigger of a bench job, for raw measurements.
func sampleTrigger() []byte {
	body, err := bus.TriggerBody{Delivery: job.AtLeastOnce, Task: job.Task{Handler: "noop"}}.Encode()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	now := time.Now().UTC().Truncate(time.Second)
	return bus.AppendTrigger(nil, &bus.Trigger{
		RunID: job.NewRunID(now), Job: benchJob(123456), Version: 1, Shard: 12, Attempt: 1,
		Cause: job.CauseSchedule, FireTime: now, CommittedAt: now.Add(12 * time.Millisecond),
	}, body)
}
