package webapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/stream"
)

// groupLabel is the label of series that are about one executor group.
const groupLabel = "executor_group"

// serveMetrics answers GET /metrics. Series of groups that the caller does not see are
// left out.
func (s *Server) serveMetrics(c *fiber.Ctx) error {
	theirs := access.Who(c.UserContext()).Access
	seen := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := s.cfg.Gatherer.Gather()
		return withoutGroups(families, func(group string) bool { return theirs.May(rights.Viewer, group) }), err
	})
	return adaptor.HTTPHandler(promhttp.HandlerFor(seen, promhttp.HandlerOpts{}))(c)
}

// withoutGroups returns families with the series only of groups that may be seen, and of
// none. It changes what it is given.
func withoutGroups(families []*dto.MetricFamily, seen func(group string) bool) []*dto.MetricFamily {
	hidden := func(m *dto.Metric) bool {
		return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == groupLabel && !seen(l.GetValue()) })
	}
	for _, f := range families {
		f.Metric = slices.DeleteFunc(f.GetMetric(), hidden)
	}
	return slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.GetMetric()) == 0 })
}

// metrics are the collectors of this package.
type metrics struct {
	requests *prometheus.HistogramVec
	signIns  *prometheus.CounterVec
}

// newMetrics registers the collectors, which read what they can where it is.
func newMetrics(to prometheus.Registerer, jobs *catalog.Catalog, open *stream.Open) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "carillon", Subsystem: "http", Name: "request_seconds",
			Help:    "How long requests took, streams up to their first byte.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"method", "status"}),
	}
	m.signIns = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "carillon", Subsystem: "http", Name: "sign_ins_total",
		Help: "Sign-ins with a password: done, wrong (user or password), locked (too many were wrong).",
	}, []string{"result"})
	for _, result := range []string{signInDone, signInWrong, signInLocked} {
		m.signIns.WithLabelValues(result)
	}
	err := errors.Join(
		to.Register(m.requests),
		to.Register(m.signIns),
		to.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "carillon", Subsystem: "http", Name: "streams", Help: "Open live tails.",
		}, func() float64 { return float64(open.Len()) })),
		to.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "carillon", Subsystem: "http", Name: "indexed_jobs", Help: "Jobs in the index that lists are read from.",
		}, func() float64 { return float64(jobs.Len()) })),
	)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// The results of a sign-in.
const (
	signInDone   = "done"
	signInWrong  = "wrong"
	signInLocked = "locked"
)

func (m *metrics) observe(method string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, strconv.Itoa(status)).Observe(took.Seconds())
}
