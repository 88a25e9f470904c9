package callout

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	connections *prometheus.CounterVec
	cutOff      prometheus.Counter
	refused     *prometheus.CounterVec
}

// What becomes of a connection.
const (
	resultAdmitted = "admitted"
	resultRefused  = "refused"
	resultTooMany  = "too_many"
)

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		connections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carillon_nats_connections_total", Help: "Connections of executors that NATS asked this server about, by result: admitted, refused, or too_many of one group.",
		}, []string{"result"}),
		cutOff: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carillon_nats_cut_off_total", Help: "Connections of executors that this server had closed, as their credential had ended, or their group is refused or has too many.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carillon_nats_groups_refused_total", Help: "How often this server refused a group for a while, by cause: budget, as it sent more than that, give_backs, as it gave triggers back without a delay, or the bucket in which it kept too many keys.",
		}, []string{"executor_group", "cause"}),
	}
	for _, result := range []string{resultAdmitted, resultRefused, resultTooMany} {
		m.connections.WithLabelValues(result)
	}
	if reg == nil {
		return m, nil
	}
	if err := errors.Join(reg.Register(m.connections), reg.Register(m.cutOff), reg.Register(m.refused)); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}
