package alert

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

// metrics are the collectors of an alerter. Names and units are in docs/reference/metrics.md.
type metrics struct {
	active     prometheus.Gauge       // 1 while this process alerts
	open       prometheus.Gauge       // incidents
	opened     *prometheus.CounterVec // incidents, by severity
	read       *prometheus.CounterVec // messages, by source
	deliveries *prometheus.CounterVec // attempts, by kind of channel and what became of them
	send       prometheus.Histogram   // how long an attempt takes
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "carillon", Subsystem: "alert", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "carillon", Subsystem: "alert", Name: name, Help: help})
	}
	m := &metrics{
		active:     gauge("active", "1 on the node that alerts, 0 on the others."),
		open:       gauge("incidents_open", "Incidents that are open, on the node that alerts."),
		opened:     counter("incidents_total", "Incidents that were opened.", "severity"),
		read:       counter("messages_total", "Messages that were judged, by source.", "source"),
		deliveries: counter("deliveries_total", "Attempts to send a message, by kind of channel and result.", "kind", "result"),
		send: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "carillon", Subsystem: "alert", Name: "send_seconds", Help: "How long an attempt to send a message took.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
	}
	for _, s := range alerting.Severities {
		m.opened.WithLabelValues(string(s))
	}
	for _, from := range []alerting.Source{fromNotices, fromEvents, fromLedger} {
		m.read.WithLabelValues(string(from))
	}
	for _, k := range alerting.Kinds {
		m.deliveries.WithLabelValues(string(k), resultSent)
		m.deliveries.WithLabelValues(string(k), resultFailed)
	}
	err := errors.Join(r.Register(m.active), r.Register(m.open), r.Register(m.opened), r.Register(m.read), r.Register(m.deliveries), r.Register(m.send))
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// The results of an attempt.
const (
	resultSent   = "sent"
	resultFailed = "failed"
)
