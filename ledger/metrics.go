package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// metrics is what a patrol counts.
type metrics struct {
	fires         *prometheus.CounterVec // judged, by outcome
	discrepancies prometheus.Counter     // found, each once
	open          prometheus.Gauge       // found and not healed
	until         prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "carillon", Subsystem: "ledger", Name: name, Help: help}
	}
	m := &metrics{
		fires:         prometheus.NewCounterVec(prometheus.CounterOpts(opts("fires_total", "Fires that the continuous audit has judged.")), []string{"outcome"}),
		discrepancies: prometheus.NewCounter(prometheus.CounterOpts(opts("discrepancies_total", "Discrepancies that the continuous audit has found."))),
		open:          prometheus.NewGauge(prometheus.GaugeOpts(opts("discrepancies_open", "Discrepancies found in the last 30 days that have not healed, as of this server's last round."))),
		until:         prometheus.NewGauge(prometheus.GaugeOpts(opts("audited_until_timestamp_seconds", "Up to where all shards are audited, in Unix time."))),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.fires, m.discrepancies, m.open, m.until} {
		errs = append(errs, r.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("register metrics of the ledger: %w", err)
	}
	for _, f := range outcome.Outcomes {
		m.fires.WithLabelValues(string(f))
	}
	return m, nil
}

func (m *metrics) count(t *outcome.Tally) {
	for o, n := range map[outcome.Outcome]int{
		outcome.Ran: t.Ran, outcome.CaughtUp: t.CaughtUp, outcome.Reported: t.Reported, outcome.Pending: t.Pending, outcome.Skipped: t.Skipped, outcome.Missed: t.Missed, outcome.Unjudged: t.Unjudged, outcome.Discrepancy: t.Discrepancies,
	} {
		m.fires.WithLabelValues(string(o)).Add(float64(n))
	}
}

func (m *metrics) audited(a cluster.Audited) {
	var least time.Time
	for _, at := range a {
		if least.IsZero() || at.Before(least) {
			least = at
		}
	}
	m.until.Set(float64(least.UnixMilli()) / 1000)
}
