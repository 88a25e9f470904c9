package ingest

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// metrics is what an ingester counts, by stream.
type metrics struct {
	active   prometheus.Gauge         // 1 while this process holds the lease
	messages *prometheus.CounterVec   // taken from the stream
	rows     *prometheus.CounterVec   // updates and log lines that the store has
	refused  *prometheus.CounterVec   // messages and lines, by reason
	dropped  *prometheus.CounterVec   // messages that the stream had to drop before they were taken
	failures *prometheus.CounterVec   // writes that the store did not take
	lag      *prometheus.GaugeVec     // messages that wait on the stream
	pace     *prometheus.GaugeVec     // by how many a second fewer wait, while it is behind
	catchUp  *prometheus.GaugeVec     // seconds until none wait, at this pace
	write    *prometheus.HistogramVec // duration of writes

	storeBytes prometheus.Gauge // of the store, on disk
	diskTotal  prometheus.Gauge // of the fullest disk below the store
	diskFree   prometheus.Gauge

	runs       *prometheus.CounterVec // that ended, by status
	lost       prometheus.Counter     // runs whose executor vanished
	startDelay prometheus.Histogram   // from the commit until an instance began
	took       prometheus.Histogram   // from there to the end
}

// newMetrics returns the metrics of streams.
func newMetrics(r prometheus.Registerer, streams []string) (*metrics, error) {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "carillon", Subsystem: "ingest", Name: name, Help: help}
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(opts(name, help)), append([]string{"stream"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(name, help)), []string{"stream"})
	}
	m := &metrics{
		active:   prometheus.NewGauge(prometheus.GaugeOpts(opts("active", "1 while this process moves history into the log store."))),
		messages: counter("messages_total", "Messages taken from a stream."),
		rows:     counter("rows_total", "Updates of runs, log lines and facts that the log store took."),
		refused:  counter("refused_total", "Messages, and parts of them, that were forged or damaged and left out.", "reason"),
		dropped:  counter("dropped_messages_total", "Messages that a stream had to drop before the log store took them."),
		failures: counter("write_failures_total", "Writes that the log store did not take and that were tried again."),
		lag:      gauge("lag_messages", "Messages that wait on a stream. A pack of ends is one."),
		pace:     gauge("catch_up_messages_per_second", "By how many messages fewer wait on a stream with each second, while it is behind; 0 while no fewer do."),
		catchUp:  gauge("catch_up_seconds", "Time until a stream that is behind is caught up with, at this pace; +Inf while no fewer messages wait."),
		write: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "carillon", Subsystem: "ingest", Name: "write_seconds",
			Help: "Duration of writes to the log store.", Buckets: prometheus.ExponentialBuckets(.001, 3, 9),
		}, []string{"stream"}),
	}
	m.runs = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "carillon", Name: "runs_total", Help: "Runs that ended, and fires without one, by final status."}, []string{"status"})
	m.lost = prometheus.NewCounter(prometheus.CounterOpts{Namespace: "carillon", Name: "runs_lost_total", Help: "Runs whose executor vanished and that may not be run again."})
	m.startDelay = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "carillon", Name: "start_delay_seconds", Help: "Time from the commit of a run's trigger until an instance began it.",
		Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 15, 60, 300, 1800},
	})
	m.took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "carillon", Name: "run_seconds", Help: "Time from the begin of a run's attempt to its end.",
		Buckets: []float64{.001, .01, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400},
	})
	store := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "carillon", Subsystem: "store", Name: name, Help: help})
	}
	m.storeBytes = store("bytes", "Size of the log store on disk, from the process that writes to it.")
	m.diskTotal = store("disk_bytes", "Size of the disk below the log store: of the fullest, if there are several.")
	m.diskFree = store("disk_free_bytes", "What is free of it.")
	for _, stream := range streams {
		for _, c := range []*prometheus.CounterVec{m.messages, m.rows, m.dropped, m.failures} {
			c.WithLabelValues(stream)
		}
		for _, reason := range []string{bus.HeaderMessage, bus.HeaderToken, reasonEncoding} { // of others there may be many
			m.refused.WithLabelValues(stream, reason)
		}
	}
	for _, s := range job.Statuses {
		if s.Final() {
			m.runs.WithLabelValues(string(s))
		}
	}
	for _, c := range []prometheus.Collector{m.active, m.messages, m.rows, m.refused, m.dropped, m.failures, m.lag, m.pace, m.catchUp, m.write, m.runs, m.lost, m.startDelay, m.took, m.storeBytes, m.diskTotal, m.diskFree} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// observe counts the ends of runs among updates that were stored. Pieces count with
// their run, and an attempt after which another follows is no end.
func (m *metrics) observe(updates []logstore.Update) {
	for i := range updates {
		u := &updates[i]
		finished := u.Kind == runlog.KindFinished
		if !u.Status.Final() || u.Retry || finished && (u.Total > 0 || u.CommittedAt.IsZero()) {
			continue
		}
		n := max(u.Count, 1)
		m.runs.WithLabelValues(string(u.Status)).Add(float64(n))
		if u.Status == job.StatusLost {
			m.lost.Add(float64(n))
		}
		if u.StartedAt.IsZero() || u.FinishedAt.IsZero() || u.CommittedAt.IsZero() {
			continue
		}
		m.startDelay.Observe(max(u.StartedAt.Sub(u.CommittedAt), 0).Seconds())
		m.took.Observe(max(u.FinishedAt.Sub(u.StartedAt), 0).Seconds())
	}
}

// refusals counts what was left out, and logs it in steps: whoever forges must not fill the log. It
// is safe for concurrent use.
type refusals struct {
	log     *slog.Logger
	metrics *metrics
	counts  doubling.Counter // by stream and reason
}

func newRefusals(log *slog.Logger, m *metrics) *refusals {
	return &refusals{log: log, metrics: m}
}

func (r *refusals) add(stream string, err error) {
	reason := reasonOf(err)
	r.metrics.refused.WithLabelValues(stream, reason).Inc()
	if n, logged := r.counts.Add(stream + " " + reason); logged {
		r.log.Warn("message refused", "stream", stream, "reason", reason, "count", n, "error", err)
	}
}
