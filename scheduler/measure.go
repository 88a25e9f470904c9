package scheduler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// measureEvery is how often a node measures what it does not count as it goes.
const measureEvery = 10 * time.Second

// measures are gauges of the node, and, on one node, of the cluster.
type measures struct {
	jobs prometheus.Gauge // in the rings of the node's shards

	// Of the cluster. Only the owner of the first shard has them.
	pending, running             *prometheus.GaugeVec // triggers, by executor group
	full                         *prometheus.GaugeVec // 1 for each full executor group
	instances, slots, slotsInUse *prometheus.GaugeVec // by executor group
	keys, size                   *prometheus.GaugeVec // in buckets with a share for each group, by executor group
	unreadable                   *prometheus.GaugeVec // heartbeats, by executor group
	bytes, limit, messages       *prometheus.GaugeVec // by stream
	behind                       *prometheus.GaugeVec // copies, by stream

	consumers map[string][]*jetstream.ConsumerInfo // of each stream of triggers, when it last answered
}

func newMeasures(s *Scheduler, r prometheus.Registerer) (*measures, error) {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "carillon", Name: name, Help: help}, labels)
	}
	const one = " Shown by one node of the cluster."
	m := &measures{
		consumers:  map[string][]*jetstream.ConsumerInfo{},
		jobs:       prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "carillon", Name: "ring_jobs", Help: "Jobs that this node fires for."}),
		pending:    gauge("group_pending_triggers", "Triggers that wait for an instance of the executor group."+one, "executor_group"),
		running:    gauge("group_running_triggers", "Triggers that an instance of the executor group has."+one, "executor_group"),
		full:       gauge("group_full", "1 while so many runs of the executor group wait that further ones are missed."+one, "executor_group"),
		instances:  gauge("group_instances", "Instances of the executor group that take work."+one, "executor_group"),
		slots:      gauge("group_slots", "Runs that the instances of the executor group do at once."+one, "executor_group"),
		slotsInUse: gauge("group_slots_in_use", "Runs that the instances of the executor group do now."+one, "executor_group"),
		keys:       gauge("group_keys", "Keys that the executor group keeps in a bucket. Beyond its share, the group is refused."+one, "executor_group", "bucket"),
		size:       gauge("group_kept_bytes", "Bytes that the executor group keeps in bucket XXLJOB or OVERRIDES. Beyond its share, the group is refused."+one, "executor_group", "bucket"),
		unreadable: gauge("group_unreadable_heartbeats", "Heartbeats of the executor group that no executor would write."+one, "executor_group"),
		bytes:      gauge("stream_bytes", "Size of the stream."+one, "stream"),
		limit:      gauge("stream_limit_bytes", "Size that the stream may have."+one, "stream"),
		messages:   gauge("stream_messages", "Messages on the stream."+one, "stream"),
		behind:     gauge("stream_copies_behind", "Copies of the stream that are away or not up to date."+one, "stream"),
	}
	owned := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "carillon", Name: "shards_owned", Help: "Shards that this node fires for. The sum over all nodes must be the number of shards."},
		func() float64 { return float64(s.Owned()) })
	parked := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "carillon", Name: "shards_parked", Help: "Shards of this node that do not fire; the log has the reason."},
		func() float64 { return float64(len(s.Parked())) })
	remaining := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "carillon", Name: "lease_remaining_seconds", Help: "How long the shortest of this node's leases may still be believed in; 0 without leases."},
		func() float64 { return s.shards.leaseRemaining(time.Now()).Seconds() })
	clock := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "carillon", Name: name, Help: help}, value)
	}
	yes := map[bool]float64{true: 1}
	if err := register(r,
		clock("clock_offset_seconds", "How far the clock of this node is ahead of that of NATS.", func() float64 { offset, _, _ := s.clock.state(); return offset.Seconds() }),
		clock("clock_wrong", "1 while the clock of this node is wrong, by NATS and most nodes: it decides nothing, and gives up its shards.", func() float64 { _, wrong, _ := s.clock.state(); return yes[wrong] }),
		clock("nats_clock_wrong", "1 while the clock of the NATS server that leads TRIG is wrong, by most nodes.", func() float64 { _, _, nats := s.clock.state(); return yes[nats] }),
	); err != nil {
		return nil, err
	}
	return m, register(r, owned, parked, remaining, m.jobs, m.pending, m.running, m.full, m.instances, m.slots, m.slotsInUse, m.keys, m.size, m.unreadable, m.bytes, m.limit, m.messages, m.behind)
}

// measure measures the node, and the cluster if that falls to this node.
func (h *housekeeper) measure(ctx context.Context) error {
	jobs := 0
	for _, l := range h.lanes {
		of, ok := ask(ctx, l, func() (jobs int) {
			for _, sh := range l.shards {
				jobs += sh.machine.Jobs()
			}
			return jobs
		})
		if !ok {
			return ctx.Err()
		}
		jobs += of
	}
	h.measures.jobs.Set(float64(jobs))
	if err := h.reportParked(ctx); err != nil {
		return err
	}
	if !h.leads() {
		h.measures.forget()
		return nil
	}
	return errors.Join(h.measureStreams(ctx), h.measureGroups(ctx), h.reportFull(ctx))
}

// reportParked stores which shards the node has parked, so that the alerter can open an
// incident. Only one goroutine calls it.
func (h *housekeeper) reportParked(ctx context.Context) error {
	parked := h.shards.parkedShards()
	if len(parked) == 0 && !h.reportedParked {
		return nil
	}
	if err := h.conn.Nodes().PutParked(ctx, h.cfg.Node, parked); err != nil {
		return err
	}
	h.reportedParked = len(parked) > 0
	return nil
}

// forget takes back what another node shows from now on.
func (m *measures) forget() {
	for _, g := range []*prometheus.GaugeVec{m.pending, m.running, m.full, m.instances, m.slots, m.slotsInUse, m.keys, m.size, m.unreadable, m.bytes, m.limit, m.messages, m.behind} {
		g.Reset()
	}
	clear(m.consumers)
}

// measureStreams measures the streams that answer.
func (h *housekeeper) measureStreams(ctx context.Context) error {
	var away []error
	for _, name := range slices.Concat(h.conn.Trigs(), h.conn.Evts(), []string{bus.StreamLog, bus.StreamAudit, bus.StreamDead}) {
		info, err := h.conn.Bulk().Info(ctx, name)
		if err != nil {
			away = append(away, err)
			continue
		}
		h.measures.bytes.WithLabelValues(name).Set(float64(info.State.Bytes))
		h.measures.limit.WithLabelValues(name).Set(float64(info.Config.MaxBytes))
		h.measures.messages.WithLabelValues(name).Set(float64(info.State.Msgs))
		h.measures.behind.WithLabelValues(name).Set(float64(len(cluster.CopiesBehind(info))))
	}
	return errors.Join(away...)
}

// measureGroups measures the executor groups. Those that are gone are forgotten. A stream that does
// not answer counts as it was last.
func (h *housekeeper) measureGroups(ctx context.Context) error {
	var away []error
	pending, running := map[string]int{}, map[string]int{}
	for _, stream := range h.conn.Trigs() {
		switch now, err := h.consumersOf(ctx, stream); {
		case err != nil:
			away = append(away, err)
		default:
			h.measures.consumers[stream] = now
		}
		for _, c := range h.measures.consumers[stream] {
			if group := bus.GroupOfConsumer(stream, c.Name); group != "" {
				pending[group] += int(c.NumPending) //nolint:gosec // a stream holds fewer
				running[group] += c.NumAckPending
			}
		}
	}
	all, err := h.conn.Instances().Fleet(ctx)
	if err != nil {
		return err
	}
	instances := all.Instances
	groups := slices.Collect(maps.Keys(pending))
	for i := range instances {
		groups = append(groups, instances[i].Group)
	}
	slices.Sort(groups)
	kept, err := h.conn.Bulk().Shares().Kept(ctx, slices.Compact(groups))
	away = append(away, err)
	m := h.measures
	for _, g := range []*prometheus.GaugeVec{m.keys, m.size, m.unreadable, m.pending, m.running, m.instances, m.slots, m.slotsInUse} {
		g.Reset()
	}
	for _, k := range kept {
		m.keys.WithLabelValues(k.Group, k.Bucket).Set(float64(k.Keys))
		if k.MaxBytes > 0 {
			m.size.WithLabelValues(k.Group, k.Bucket).Set(float64(k.Bytes))
		}
	}
	for group, n := range all.Unreadable {
		m.unreadable.WithLabelValues(group).Set(float64(n))
	}
	for group := range pending {
		m.pending.WithLabelValues(group).Set(float64(pending[group]))
		m.running.WithLabelValues(group).Set(float64(running[group]))
		m.instances.WithLabelValues(group).Set(0)
	}
	for i := range instances {
		in := &instances[i]
		if in.State == fleet.InstanceOnline || in.State == fleet.InstanceIncompatible {
			m.instances.WithLabelValues(in.Group).Inc()
			m.slots.WithLabelValues(in.Group).Add(float64(in.Slots))
		}
		if in.Alive() {
			m.slotsInUse.WithLabelValues(in.Group).Add(float64(in.Running))
		}
	}
	return errors.Join(away...)
}

// reportFull stores which groups are full. One node does so: each measures the same.
func (h *housekeeper) reportFull(ctx context.Context) error {
	h.measures.full.Reset()
	var failed []error
	for i := range h.rooms.all {
		for group, f := range h.rooms.all[i].fullGroups() {
			h.measures.full.WithLabelValues(group).Set(1)
			f.Until = time.Now().Add(3 * measureEvery).UTC().Truncate(time.Second)
			failed = append(failed, h.conn.Refusals().PutFullGroup(ctx, f))
		}
	}
	return errors.Join(failed...)
}

// consumersOf returns the consumers of a stream.
func (h *housekeeper) consumersOf(ctx context.Context, name string) (all []*jetstream.ConsumerInfo, err error) {
	stream, err := h.conn.Bulk().JS.Stream(ctx, name)
	if err != nil {
		return nil, jet.Unavailable(err)
	}
	list := stream.ListConsumers(ctx)
	for c := range list.Info() {
		all = append(all, c)
	}
	return all, jet.Unavailable(list.Err())
}
