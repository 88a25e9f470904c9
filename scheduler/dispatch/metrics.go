package dispatch

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/job"
)

// metrics is what a dispatcher counts. Names and units are in docs/reference/metrics.md.
type metrics struct {
	groups   prometheus.Gauge       // that have an instance
	outcomes *prometheus.CounterVec // of deliveries of routed triggers
	deaths   *prometheus.CounterVec // of executors that had an attempt, by group
}

// What became of a delivery.
const (
	outcomeTaken      = "taken"
	outcomeHeld       = "held"
	outcomeUnknown    = "unknown"
	outcomeOver       = "over"
	outcomeRejected   = "rejected"
	outcomeUnreadable = "unreadable"
)

// outcomes are these, and the statuses of runs that are ended without an instance.
var outcomes = []string{outcomeTaken, outcomeHeld, outcomeUnknown, outcomeOver, outcomeRejected, outcomeUnreadable, string(job.StatusLost), string(job.StatusMissed), string(job.StatusTimedOut), string(job.StatusCancelled)}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		groups: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "carillon", Name: "routed_groups", Help: "Executor groups with an instance, as the dispatcher of this node sees them.",
		}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Name: "routed_triggers_total",
			Help: "Deliveries of routed triggers, by what became of them.",
		}, []string{"outcome"}),
		deaths: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Name: "executor_deaths_total", Help: "How often this server has found that an executor died, or was cut off, while it had an attempt.",
		}, []string{"executor_group"}),
	}
	for _, o := range outcomes {
		m.outcomes.WithLabelValues(o)
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.groups), r.Register(m.outcomes), r.Register(m.deaths))
}

func (m *metrics) outcome(what string) { m.outcomes.WithLabelValues(what).Inc() }

// outcomeOf returns the outcome of an offer that an instance has taken, or may have.
func outcomeOf(res result) string {
	if res == taken {
		return outcomeTaken
	}
	return outcomeUnknown
}
