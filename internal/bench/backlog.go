package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// benchBacklog has so many triggers wait for a group whose executors are all stuck, and
// nothing else happen, and measures what that costs all others: the share of a processor,
// beside what the idle cluster takes, and events that go to the history.
func benchBacklog(ctx context.Context, o benchOptions) (*benchResult, error) {
	if !slices.Contains(job.Routes, job.Route(o.route)) || o.instances < 1 || o.runFor < time.Second {
		return nil, cli.Usage(fmt.Errorf("--route must be one of %v, --instances at least 1, and --for at least 1s", job.Routes))
	}
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.route = job.Route(o.route)
	ensure := w.conn.Groups().Ensure
	if w.route != job.RouteAny {
		ensure = w.conn.Groups().Route
	}
	if err := ensure(ctx, stuckGroup); err != nil {
		return nil, err
	}
	parts, stop := context.WithCancel(ctx)
	defer stop()
	jammed, err := w.startExecutors(parts, stuckGroup, o.instances, isolationSlots, func(ctx context.Context, _ *executor.Run) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	if err := node.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	const settle = 5 * time.Second // until all have found each other, and then until all slots are taken
	if err := pause.For(ctx, settle); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, Seconds: o.runFor.Seconds()}
	if r.IdleCPU, _, err = w.spent(ctx, o.runFor, ""); err != nil {
		return nil, err
	}
	if err := w.pileUp(ctx, o.jobs); err != nil {
		return nil, err
	}
	if err := pause.For(ctx, settle); err != nil {
		return nil, err
	}
	if r.CPUShare, r.Events, err = w.spent(ctx, o.runFor, o.profile); err != nil {
		return nil, err
	}
	if err := node.close(); err != nil {
		return nil, err
	}
	stop()
	return r, drain(jammed)
}

// spent returns what the process takes for a while, in percent of one processor, and how
// many events are stored in a second.
func (w *benchWorld) spent(ctx context.Context, d time.Duration, profile string) (percent, events float64, err error) {
	before, err := w.conn.LastSeq(ctx, bus.StreamEvt)
	if err != nil {
		return 0, 0, err
	}
	meter, err := startMeter(profile)
	if err != nil {
		return 0, 0, err
	}
	defer meter.stop()
	if err := pause.For(ctx, d); err != nil {
		return 0, 0, err
	}
	elapsed, used := meter.stop()
	after, err := w.conn.LastSeq(ctx, bus.StreamEvt)
	return 100 * used.Seconds() / elapsed.Seconds(), float64(after-before) / elapsed.Seconds(), err
}

// pileUp publishes n triggers for the group that is stuck.
func (w *benchWorld) pileUp(ctx context.Context, n int) error {
	body := bus.TriggerBody{Delivery: job.AtLeastOnce, Task: job.Task{Handler: "noop"}}
	if w.route != job.RouteAny {
		body.Route = w.route
	}
	text, err := body.Encode()
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	var batch []*nats.Msg
	for i := range n {
		name := job.Name(stuckGroup + "/job-" + strconv.Itoa(i))
		t := &bus.Trigger{
			RunID: job.FireRunID(name, now.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(w.conn.Cluster().Shards),
			Attempt: 1, Cause: job.CauseSchedule, FireTime: now, CommittedAt: now,
		}
		subject := bus.SubjectTrigger(t.Shard, stuckGroup)
		if body.Routed() {
			subject = bus.SubjectRouted(t.Shard, stuckGroup)
		}
		m := bus.NewMessage(subject, bus.MessageTrigger, bus.AppendTrigger(nil, t, text))
		m.Header.Set(bus.HeaderToken, w.conn.Tokens().Trigger(t, false, now))
		batch = append(batch, m)
		if len(batch) == bus.MaxBatch || i == n-1 {
			if _, err := w.conn.PublishBatch(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return nil
}
