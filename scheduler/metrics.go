package scheduler

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// metrics is what a node counts. Names and units are in docs/reference/metrics.md.
type metrics struct {
	delay    prometheus.Histogram   // from the due instant to the commit
	triggers prometheus.Counter     // committed
	batches  prometheus.Counter     // committed
	refused  *prometheus.CounterVec // commits that had to be repeated, by reason
	lost     prometheus.Counter     // shards that another owner took, or whose lease ended
	takeover prometheus.Histogram   // from the lease to readiness
	standbys prometheus.Gauge       // shards of others whose jobs the node has read
	orphans  prometheus.Counter     // runs, or pieces, that were ended because their trigger had gone
	unusable prometheus.Counter     // job versions in the bucket that cannot be used
	misfires *prometheus.CounterVec // fires that were noticed too late, by the policy that ruled

	laterItems prometheus.Counter // deferred items of kinds that only newer servers know
	letters    prometheus.Gauge   // of parents, for children in other partitions, that are not stored there yet
}

// unknownOrStale is the reason of a batch whose answer was lost.
const unknownOrStale = "unknown_or_stale"

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "carillon", Name: "dispatch_delay_seconds",
			Help:    "Time from the instant at which a run was due until its trigger was committed.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 15, 60, 300},
		}),
		triggers: counter("triggers_total", "Triggers committed."),
		batches:  counter("batches_total", "Commits of a shard."),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Name: "batches_repeated_total",
			Help: "Commits that were not stored at the first try, by reason.",
		}, []string{"reason"}),
		lost: counter("shards_lost_total", "Shards that another owner took, or whose lease ended, without being handed over."),
		takeover: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "carillon", Name: "takeover_seconds",
			Help:    "Time from acquiring a shard's lease until it fires.",
			Buckets: prometheus.ExponentialBuckets(.001, 4, 8),
		}),
		standbys: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "carillon", Name: "standby_shards",
			Help: "Shards of other nodes whose jobs this one keeps, to take over faster.",
		}),
		letters: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "carillon", Name: "letters_waiting",
			Help: "Ends of runs that are not yet sent to children in other partitions.",
		}),
		orphans:  counter("runs_orphaned_total", "Runs, or pieces of runs, that were ended as lost because their trigger had left TRIG and no end was reported."),
		unusable: counter("job_versions_unusable_total", "Job versions in the bucket that could not be used."),

		laterItems: counter("deferred_items_later_total", "Deferred items that were left alone because only newer servers know their kind."),
	}
	m.refused.WithLabelValues(unknownOrStale)
	for _, reason := range jet.BatchErrorKinds {
		m.refused.WithLabelValues(reason)
	}
	m.misfires = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "carillon", Name: "misfires_total", Help: "Fires that were noticed too late, by the misfire policy that ruled.",
	}, []string{"policy"})
	for _, p := range []job.MisfirePolicy{job.MisfireSkip, job.FireOnce, job.FireAll} {
		m.misfires.WithLabelValues(string(p))
	}
	return m, register(r, m.delay, m.triggers, m.batches, m.refused, m.lost, m.takeover, m.standbys, m.orphans, m.unusable, m.misfires, m.letters, m.laterItems)
}

func register(r prometheus.Registerer, collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "carillon", Name: name, Help: help})
}

// observe counts a commit at the time it was known.
func (m *metrics) observe(b *shard.Batch, now time.Time) {
	m.batches.Inc()
	m.triggers.Add(float64(b.Triggers))
	for policy, n := range b.Misfires {
		m.misfires.WithLabelValues(string(policy)).Add(float64(n))
	}
	ms := now.UnixMilli()
	for _, due := range b.Due {
		m.delay.Observe(float64(max(0, ms-due)) / 1000)
	}
}
