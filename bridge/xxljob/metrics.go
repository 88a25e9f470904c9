package xxljob

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// logger is what the parts of a bridge log to.
type logger = *slog.Logger

type metrics struct {
	runs      *prometheus.CounterVec // by status
	callbacks *prometheus.CounterVec // by kind
	adopted   prometheus.Counter
	givenBack prometheus.Counter
	refused   prometheus.Counter
	instances prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "carillon", Subsystem: "xxl_job", Name: name, Help: help})
	}
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Subsystem: "xxl_job", Name: "runs_total", Help: "Attempts that ended at executors of XXL-JOB, by status.",
		}, []string{"status"}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "carillon", Subsystem: "xxl_job", Name: "callbacks_total",
			Help: "Callbacks of executors of XXL-JOB: taken, repeated, late (of a run that was given up), unknown, or not stored.",
		}, []string{"kind"}),
		adopted:   counter("adopted_runs_total", "Live runs that were taken over from another bridge."),
		givenBack: counter("given_back_total", "Runs that were given back, to be run again elsewhere."),
		refused:   counter("refused_total", "Messages that are no requests, triggers that cannot be read, and messages of the bridge that servers refused."),
		instances: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "carillon", Subsystem: "xxl_job", Name: "executors", Help: "Executors of XXL-JOB that this bridge serves."}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.runs, m.callbacks, m.adopted, m.givenBack, m.refused, m.instances} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}
