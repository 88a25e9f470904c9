package dispatch

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what a dispatcher counts. Names and units are in docs/operations/monitoring.md.
type metrics struct {
	groups   prometheus.Gauge       // that have an instance
	outcomes *prometheus.CounterVec // of deliveries of routed triggers
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		groups: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "carillon", Name: "routed_groups", Help: "Executor groups with an instance, as the dispatcher of this node sees them.",
		}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Name: "routed_triggers_total",
			Help: "Deliveries of routed triggers, by what became of them.",
		}, []string{"outcome"}),
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.groups), r.Register(m.outcomes))
}

func (m *metrics) outcome(what string) { m.outcomes.WithLabelValues(what).Inc() }
