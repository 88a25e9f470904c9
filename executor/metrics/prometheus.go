package metrics

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// Prometheus makes observers that keep their metrics, whose names begin with
// carillon_executor_, in reg, for executor.Config.Observers. It fails if reg has metrics of
// an executor of the same group and instance.
func Prometheus(reg prometheus.Registerer) executor.NewObserver {
	return func(about executor.About) (executor.Observer, error) {
		labels := prometheus.Labels{"executor_group": about.Group, "instance_name": about.Instance}
		o, err := newObserver(prometheus.WrapRegistererWith(labels, reg))
		if err != nil {
			return nil, err
		}
		return o, nil
	}
}

// observer has the collectors of one executor.
type observer struct {
	runs         map[job.Status]prometheus.Counter
	counts       map[executor.Count]prometheus.Counter
	slots, inUse prometheus.Gauge
	// Where the time of an attempt goes: from its trigger's commit until it comes here, from
	// there until its handler is called, and from there to its end.
	delivery, start, took prometheus.Histogram
}

func newObserver(reg prometheus.Registerer) (*observer, error) {
	var errs []error
	register := func(c prometheus.Collector) { errs = append(errs, reg.Register(c)) }
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
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "carillon_executor_" + name, Help: help, Buckets: buckets})
		register(h)
		return h
	}
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "carillon_executor_runs_total", Help: "Attempts that ended, by final status.",
	}, []string{"status"})
	register(runs)
	o := &observer{
		delivery: histogram("delivery_delay_seconds", "Time from the commit of a trigger until it came here.", .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 15, 60, 300, 1800),
		start:    histogram("start_delay_seconds", "Time from when a trigger came here until its handler was called.", .0001, .001, .01, .1, .25, .5, 1, 5),
		took:     histogram("run_seconds", "Time from when a handler was called to the end of its attempt.", .001, .01, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400),
		runs:     map[job.Status]prometheus.Counter{},
		counts: map[executor.Count]prometheus.Counter{
			executor.CountGivenBack:       counter("runs_given_back_total", "Triggers that were given back to the group, because the executor stops or nobody could take them."),
			executor.CountHandedOver:      counter("triggers_handed_over_total", "Triggers that were handed to a server: delivered before, or not to be done here."),
			executor.CountAbandoned:       counter("handlers_abandoned_total", "Handlers that ignored their cancelled context and were left behind."),
			executor.CountRejected:        counter("triggers_rejected_total", "Messages that were no triggers of the group."),
			executor.CountRefused:         counter("messages_refused_total", "Messages of this executor that servers said they refused, at most one a second."),
			executor.CountEventRetries:    counter("event_publish_retries_total", "Finished events that had to be published again."),
			executor.CountLogLinesDropped: counter("log_lines_dropped_total", "Log lines given up because the log stream did not take them."),
		},
		slots: gauge("slots", "Runs that there may be at once."),
		inUse: gauge("slots_in_use", "Runs that there are."),
	}
	for _, s := range job.Statuses {
		if s.Executed() || s == job.StatusMissed { // what came too late to begin is missed
			o.runs[s] = runs.WithLabelValues(string(s))
		}
	}
	return o, errors.Join(errs...)
}

// Begun implements executor.Observer.
func (o *observer) Begun(ctx context.Context, _ *executor.Run) (context.Context, func(executor.End)) {
	return ctx, o.ended
}

func (o *observer) ended(e executor.End) {
	if e.Status == "" {
		return // another instance's
	}
	o.runs[e.Status].Inc()
	if e.Started.IsZero() {
		return // it was never begun
	}
	o.delivery.Observe(max(e.Delivered.Sub(e.Committed), 0).Seconds())
	o.start.Observe(max(e.Started.Sub(e.Delivered), 0).Seconds())
	o.took.Observe(max(e.Ended.Sub(e.Started), 0).Seconds())
}

// Slots implements executor.Observer.
func (o *observer) Slots(inUse, total int) {
	o.inUse.Set(float64(inUse))
	o.slots.Set(float64(total))
}

// Counted implements executor.Observer.
func (o *observer) Counted(what executor.Count, n int) { o.counts[what].Add(float64(n)) }
