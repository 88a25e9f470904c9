package executor

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/job"
)

// metrics are the collectors of one executor.
type metrics struct {
	handedOver      prometheus.Counter
	runs            map[job.Status]prometheus.Counter
	givenBack       prometheus.Counter
	abandoned       prometheus.Counter
	rejected        prometheus.Counter
	slots, inUse    prometheus.Gauge
	eventRetries    prometheus.Counter
	logLinesDropped prometheus.Counter
	// Where the time of an attempt goes: from its trigger's commit until it comes here, from
	// there until its handler is called, and from there to its end.
	delivery, start, took prometheus.Histogram
}

// newMetrics registers the collectors on cfg.Registerer, if there is one.
func newMetrics(cfg Config) (*metrics, error) {
	var errs []error
	register := func(c prometheus.Collector) {
		if cfg.Registerer == nil {
			return
		}
		labels := prometheus.Labels{"executor_group": cfg.Group, "instance_name": cfg.Instance}
		errs = append(errs, prometheus.WrapRegistererWith(labels, cfg.Registerer).Register(c))
	}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "carillon_executor_" + name, Help: help})
		register(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "carillon_executor_" + name, Help: help})
		register(g)
		return g
	}
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "carillon_executor_runs_total", Help: "Attempts that ended, by final status.",
	}, []string{"status"})
	register(runs)
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "carillon_executor_" + name, Help: help, Buckets: buckets})
		register(h)
		return h
	}
	m := &metrics{
		delivery:        histogram("delivery_delay_seconds", "Time from the commit of a trigger until it came here.", .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 15, 60, 300, 1800),
		start:           histogram("start_delay_seconds", "Time from when a trigger came here until its handler was called.", .0001, .001, .01, .1, .25, .5, 1, 5),
		took:            histogram("run_seconds", "Time from when a handler was called to the end of its attempt.", .001, .01, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400),
		runs:            map[job.Status]prometheus.Counter{},
		givenBack:       counter("runs_given_back_total", "Triggers that were given back to the group, because the executor stops or nobody could take them."),
		handedOver:      counter("triggers_handed_over_total", "Triggers that were handed to a server: delivered before, or not to be done here."),
		abandoned:       counter("handlers_abandoned_total", "Handlers that ignored their cancelled context and were left behind."),
		rejected:        counter("triggers_rejected_total", "Messages that were no triggers of the group."),
		slots:           gauge("slots", "Runs that there may be at once."),
		inUse:           gauge("slots_in_use", "Runs that there are."),
		eventRetries:    counter("event_publish_retries_total", "Finished events that had to be published again."),
		logLinesDropped: counter("log_lines_dropped_total", "Log lines given up because the log stream did not take them."),
	}
	for _, s := range job.Statuses {
		if s.Executed() || s == job.StatusMissed { // what came too late to begin is missed
			m.runs[s] = runs.WithLabelValues(string(s))
		}
	}
	m.slots.Set(float64(cfg.Slots))
	return m, errors.Join(errs...)
}

// observe counts where the time of an attempt went that ended at an instant.
func (m *metrics) observe(r *Run, end time.Time) {
	if r.startedAt.IsZero() {
		return // it was never begun
	}
	m.delivery.Observe(max(r.came.Sub(r.trigger.CommittedAt), 0).Seconds())
	m.start.Observe(max(r.startedAt.Sub(r.came), 0).Seconds())
	m.took.Observe(max(end.Sub(r.startedAt), 0).Seconds())
}
