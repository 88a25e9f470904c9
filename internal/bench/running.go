package bench

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// serverRests is how long the NATS server keeps what it has read in memory.
const serverRests = 12 * time.Second

// benchRunning has workflows run of which all steps are out, and nobody to do them. It kills their node, and takes the
// live heap that another one takes for them and how long it is until that fires for all. In turns it measures as many
// runs, of as many jobs, that are watched without a graph.
func benchRunning(ctx context.Context, o benchOptions) (*benchResult, error) {
	if err := o.checkSteps(); err != nil {
		return nil, err
	}
	out := o.jobs * o.steps
	workflows := func(ctx context.Context) (*benchResult, error) {
		from := o.readyBy()
		return o.takeOver(ctx, from, job.Schedule{Once: &from}, out, func(j *job.Job) {
			j.Task, j.Steps = job.Task{}, stepsOf(shapeWide, o.steps)
		})
	}
	watched := func(ctx context.Context) (*benchResult, error) {
		from := o.readyBy()
		until := from.Add(time.Duration(o.steps-1) * time.Second)
		s := job.Schedule{FixedRate: job.Duration(time.Second), Anchor: &from, From: &from, Until: &until}
		return o.takeOver(ctx, from, s, out, func(j *job.Job) { j.Retry = job.Retry{Limit: 1} })
	}
	all, err := inTurns(ctx, o.turns, workflows, watched)
	if err != nil {
		return nil, err
	}
	return all[0].beside(all[1]), nil
}

// takeOver has jobs run, and measures the node that takes them over once so many runs are out.
func (o benchOptions) takeOver(ctx context.Context, from time.Time, s job.Schedule, out int, change func(*job.Job)) (*benchResult, error) {
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.change = change
	if err := w.seed(ctx, o.jobs, from.Add(-time.Millisecond), func(int) job.Schedule { return s }); err != nil {
		return nil, err
	}
	nodes, err := w.startNodes(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := begin(ctx, from, 0); err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return w.triggersOut(ctx, out) }); err != nil {
		return nil, err
	}
	nodes[0].kill()
	if err := <-nodes[0].done; err != nil {
		return nil, err
	}
	if err := pause.For(ctx, serverRests); err != nil {
		return nil, err
	}
	before := heapMB()
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	next, err := w.startNode(ctx, "next")
	if err != nil {
		return nil, err
	}
	if err := next.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	elapsed, used := meter.stop()
	if err := pause.For(ctx, serverRests); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, Count: out, Seconds: elapsed.Seconds(), CPUMicros: each(used, out), HeapMB: heapMB() - before}
	return r, next.close()
}

// triggersOut reports whether so many triggers are on the streams.
func (w *benchWorld) triggersOut(ctx context.Context, want int) (bool, error) {
	if err := pause.For(ctx, 200*time.Millisecond); err != nil {
		return false, err
	}
	n := uint64(0)
	for _, name := range w.conn.Trigs() {
		stream, err := w.conn.JS.Stream(ctx, name)
		if err != nil {
			return false, err
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter("trig.>"))
		if err != nil {
			return false, err
		}
		for _, of := range info.State.Subjects {
			n += of
		}
	}
	return n >= uint64(want), nil //nolint:gosec // a count is positive
}
