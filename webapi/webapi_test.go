package webapi

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

func TestReadinessSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t, hasty)
	if page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil); page.Total != 0 { // the jobs are loaded by then
		t.Errorf("%+v", page)
	}
	if h, _ := want[Health](w, http.StatusOK, "GET", "/readyz", nil); h.Status != HealthStatusOk || len(h.Checks) != 4 {
		t.Errorf("%+v", h)
	}
	want[Health](w, http.StatusOK, "GET", "/healthz", nil)
	w.broker.Stop()
	h, _ := want[Health](w, http.StatusServiceUnavailable, "GET", "/readyz", nil)
	if c := h.Checks[0]; h.Status != HealthStatusUnavailable || c.Ok || c.Detail != "JetStream does not answer" || !h.Checks[1].Ok {
		t.Errorf("%+v", h)
	}
	want[Health](w, http.StatusOK, "GET", "/healthz", nil)
	w.problem(503, "unavailable", "GET", "/api/v1/jobs/billing/x", nil, "does not answer")
	w.problem(503, "unavailable", "PUT", "/api/v1/pause", `{"paused":true}`)
}

func TestReadinessNamesTheStreamThatIsFull(t *testing.T) {
	w := newWorld(t)
	want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil) // the jobs are loaded by then
	stream, err := w.conn.JS.Stream(t.Context(), bus.StreamEvt)
	w.check(err)
	cfg := stream.CachedInfo().Config
	cfg.MaxBytes = 4096
	_, err = w.conn.JS.UpdateStream(t.Context(), cfg)
	w.check(err)
	for err == nil {
		_, err = w.conn.JS.Publish(t.Context(), "evt.0.billing", bytes.Repeat([]byte("x"), 10), jetstream.WithRetryAttempts(0))
	}
	h, _ := want[Health](w, http.StatusServiceUnavailable, "GET", "/readyz", nil)
	if c := h.Checks[0]; c.Ok || c.Name != "bus" || !strings.Contains(c.Detail, "stream EVT is full and refuses messages") {
		t.Errorf("%+v", h)
	}
}

func TestReadinessNamesTheStreamThatIsSilent(t *testing.T) {
	w := newWorld(t, hasty)
	want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil) // the jobs are loaded by then
	w.broker.Silence(bus.StreamEvt)
	h, _ := want[Health](w, http.StatusServiceUnavailable, "GET", "/readyz", nil)
	if c := h.Checks[0]; c.Ok || c.Name != "bus" || c.Detail != "stream EVT does not answer" {
		t.Errorf("%+v", h)
	}
}

func TestAServerIsReadyWhileOnePartitionOfSeveralIsSilent(t *testing.T) {
	w := newWorld(t, func(_ *Config, w *world) {
		w.broker = bustest.NewBroker(t)
		w.conn = clustertest.SetupAs(t, w.broker, "api", cluster.Assets{Shards: shards, Partitions: 2})
	})
	want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil) // the jobs are loaded by then
	w.broker.Silence("EVT1")
	h, _ := want[Health](w, http.StatusOK, "GET", "/readyz", nil)
	if c := h.Checks[0]; !c.Ok || c.Detail != "stream EVT1 does not answer" {
		t.Errorf("%+v", h)
	}
}

func TestReadinessWatchesTheLogStore(t *testing.T) {
	w := newWorld(t, func(_ *Config, w *world) { w.store = away{w.store} })
	h, _ := want[Health](w, http.StatusServiceUnavailable, "GET", "/readyz", nil)
	if c := h.Checks[1]; c.Ok || c.Name != "log_store" || c.Detail != "the log store does not answer" {
		t.Errorf("%+v", h)
	}
}

func TestAnswersNameTheVersionToThoseWhoAreSignedIn(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for path, version := range map[string]string{"/jobs": "1.2.3", "/jobs/a/none": "1.2.3", "/sign-in": "1.2.3"} {
		if got := g.send("GET", "/api/v1"+path, nil, ann.headers()...).header.Get("Carillon-Version"); got != version {
			t.Errorf("%s names version %q to ann", path, got)
		}
		if got := g.send("GET", "/api/v1"+path, nil).header.Get("Carillon-Version"); got != "" {
			t.Errorf("%s names version %q to anybody", path, got)
		}
	}
}

func TestVersionAndMetricsAreServed(t *testing.T) {
	w := newWorld(t)
	v, _ := want[ServerVersion](w, http.StatusOK, "GET", "/api/v1/version", nil)
	if v.Version != "1.2.3" || !strings.HasPrefix(v.Go, "go1.") {
		t.Errorf("%+v", v)
	}
	a := w.send("GET", "/metrics", nil)
	for _, name := range []string{`carillon_http_request_seconds_count{method="GET",status="200"} 1`, "carillon_http_streams 0", "carillon_http_indexed_jobs 0"} {
		if !strings.Contains(a.text, name) {
			t.Errorf("metrics have no %s", name)
		}
	}
}

func TestAPanicIsAProblemAndItsStackIsLogged(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Config, w *world) {
		w.store = away{w.store}
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	w.problem(500, "internal", "GET", "/api/v1/runs/"+string(job.NewRunID(noon)), nil)
	w.stop()
	w.check(<-w.ended)
	for _, part := range []string{"BUG: in the store", "request_id=", "away.Run"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log has no %s: %s", part, log.String())
		}
	}
}

func TestOnlyLoopbackIsListenedOnWithoutTLS(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:8080", ":8080", "[::]:8080", "10.0.0.1:80", "example.org:80", "8080", "localhost"} {
		_, err := New(&cluster.Conn{}, nil, Config{Addr: addr})
		if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != "http" {
			t.Errorf("%s: %v", addr, err)
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			continue
		}
		for _, cfg := range []Config{{Addr: addr, BehindProxy: true}, {Addr: addr, TLS: &tls.Config{}}} {
			if _, err := New(&cluster.Conn{}, nil, cfg); err != nil {
				t.Errorf("%s with TLS or a proxy: %v", addr, err)
			}
		}
		if _, err := New(&cluster.Conn{}, nil, Config{Addr: addr, Local: true}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%s: all the world is local: %v", addr, err)
		}
	}
	for _, cfg := range []Config{{Local: true, BehindProxy: true}, {Local: true, TLS: &tls.Config{}}, {PublicURL: "carillon.example.org"}} {
		if _, err := New(&cluster.Conn{}, nil, cfg); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, addr := range []string{"", "127.0.0.1:0", "localhost:8080", "[::1]:80"} {
		if _, err := New(&cluster.Conn{}, nil, Config{Addr: addr}); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
	var lc net.ListenConfig
	everywhere, err := lc.Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = everywhere.Close() }()
	if _, err := New(&cluster.Conn{}, nil, Config{Listener: everywhere}); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("a listener on every address: %v", err)
	}
}

func TestAServerThatIsStoppedAtOnceEnds(t *testing.T) {
	w := newWorld(t)
	w.stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if r, err := http.Get(w.url); err == nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		t.Error("it still answers")
	}
}

func TestMetricsNameTheGroupsThatTheCallerSees(t *testing.T) {
	g := newGuardedWorld(t, func(c *Config, _ *world) {
		own := prometheus.NewRegistry()
		c.Registerer, c.Gatherer = own, own
		slots := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "carillon_group_slots"}, []string{"executor_group"})
		own.MustRegister(slots)
		slots.WithLabelValues("billing").Set(1)
		slots.WithLabelValues("ops").Set(2)
		only := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "carillon_ops_only"}, []string{"executor_group", "instance_name"})
		own.MustRegister(only)
		only.WithLabelValues("ops", "i1").Set(1)
	})
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	shown := func(b *browser) string {
		a := g.send("GET", "/metrics", nil, b.headers()...)
		if a.status != http.StatusOK || !strings.Contains(a.text, `carillon_group_slots{executor_group="billing"} 1`) || !strings.Contains(a.text, "carillon_http_streams") {
			t.Errorf("%d %s", a.status, a.text)
		}
		return a.text
	}
	if text := shown(bob); strings.Contains(text, "ops") {
		t.Errorf("bob sees group ops:\n%s", text)
	}
	if text := shown(ann); !strings.Contains(text, `{executor_group="ops"} 2`) || !strings.Contains(text, "carillon_ops_only") {
		t.Errorf("ann does not see group ops:\n%s", text)
	}
}

func TestAMethodThatNobodyKnowsIsAProblem(t *testing.T) {
	w := newWorld(t)
	for _, method := range []string{"PROPFIND", "QUERY", "X"} {
		w.problem(405, "method_not_allowed", method, "/api/v1/jobs", nil, "use GET")
	}
	w.problem(405, "method_not_allowed", "PATCH", "/api/v1/jobs/billing/x", nil)
}

func TestAConnectionThatSendsNoRequestIsClosed(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.HeadTimeout = 200 * time.Millisecond })
	for _, part := range []string{"", "GET /healthz HTTP/1.1\r\nHost: loc"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.server.Addr().String())
		w.check(err)
		_, err = conn.Write([]byte(part))
		w.check(err)
		w.check(conn.SetReadDeadline(time.Now().Add(20 * time.Second)))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %q, the connection stays open", part)
		}
		w.check(conn.Close())
	}
}
