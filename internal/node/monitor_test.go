package node

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/scheduler"
	"github.com/carillon-scheduler/carillon/scheduler/orphans"
	"github.com/carillon-scheduler/carillon/webapi"
)

// names is a registerer that notes what is registered: true if its series are there before
// anything has happened.
type names map[string]bool

var fqName = regexp.MustCompile(`fqName: "([^"]+)"`)

func (n names) Register(c prometheus.Collector) error {
	described := make(chan *prometheus.Desc, 100)
	c.Describe(described)
	close(described)
	there := true
	if vec, ok := c.(*prometheus.CounterVec); ok {
		series := make(chan prometheus.Metric, 100)
		vec.Collect(series)
		there = len(series) > 0
	}
	for d := range described {
		n[fqName.FindStringSubmatch(d.String())[1]] = there
	}
	return nil
}

func (n names) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		_ = n.Register(c)
	}
}

func (names) Unregister(prometheus.Collector) bool { return true }

// metricNames returns the names of all metrics that the program has.
func metricNames(t *testing.T) names {
	t.Helper()
	broker := bustest.NewBroker(t)
	conn := clustertest.Connect(t, broker, "test")
	all := names{}
	_, schedulerErr := scheduler.New(conn, scheduler.Config{Registerer: all})
	_, ingestErr := ingest.New(conn, nil, ingest.Config{Metrics: all})
	_, alertErr := alert.New(conn, alert.Config{Metrics: all})
	_, ledgerErr := ledger.NewPatrol(conn, nil, job.Retention{}, nil, all)
	_, orphansErr := orphans.New(conn, nil, slog.New(slog.DiscardHandler), all)
	keys, keysErr := callout.NewKeys()
	_, calloutErr := callout.New(conn, conn.NC, keys, callout.Config{Registerer: all})
	_, apiErr := webapi.New(conn, nil, webapi.Config{Registerer: all, Gatherer: prometheus.NewRegistry()})
	_, executorErr := executor.New(conn.Conn, executor.Config{Group: "g", Observers: observers(all, nil)})
	_, bridgeErr := xxljob.New(conn.Conn, xxljob.Config{Dial: (&net.Dialer{}).DialContext, Registerer: all})
	if err := errors.Join(bridgeErr, schedulerErr, ingestErr, alertErr, ledgerErr, orphansErr, keysErr, calloutErr, apiErr, executorErr); err != nil {
		t.Fatal(err)
	}
	all.MustRegister(roomMetrics(t.Context(), conn)...)
	all.MustRegister(reconnectMetrics(conn)...)
	return all
}

var metric = regexp.MustCompile(`carillon_[a-z0-9_]+`)

// unknown returns the metrics that a text names and that do not exist.
func unknown(text string, known names) []string {
	missing := map[string]bool{}
	for _, name := range metric.FindAllString(text, -1) {
		base := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			base = strings.TrimSuffix(base, suffix)
		}
		_, whole := known[name]
		if _, part := known[base]; !whole && !part {
			missing[name] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

func TestEveryMetricThatIsNamedExists(t *testing.T) {
	known := metricNames(t)
	for _, file := range []string{"../../deploy/grafana/carillon.json", "../../deploy/prometheus/rules.yaml", "../../docs/reference/metrics.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if missing := unknown(string(data), known); len(missing) > 0 {
			t.Errorf("%s names %v", file, missing)
		}
	}
	documented, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !strings.Contains(string(documented), name) {
			t.Errorf("docs/reference/metrics.md does not tell of %s", name)
		}
	}
}

// increase() of a series that is born with its first event is 0: a rule would miss that event.
func TestRulesSeeTheFirstEventOfEachKind(t *testing.T) {
	known := metricNames(t)
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for line := range strings.Lines(string(rules)) {
		for _, found := range regexp.MustCompile(`increase\((carillon_[a-z_]+)`).FindAllStringSubmatch(line, -1) {
			looked++
			if name := found[1]; !known[name] && !strings.Contains(line, name+" unless "+name+" offset ") {
				t.Errorf("a rule asks for the increase of %s, which has no series before its first event", name)
			}
		}
	}
	if looked < 8 {
		t.Errorf("%d rules were looked at", looked)
	}
}

// "task rules" runs that file with promtool.
func TestEachRuleIsFiredInTheFileForPromtool(t *testing.T) {
	named := func(file, expr string) []string {
		data, err := os.ReadFile("../../deploy/prometheus/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, found := range regexp.MustCompile(expr).FindAllStringSubmatch(string(data), -1) {
			names = append(names, found[1])
		}
		return slices.Sorted(slices.Values(names))
	}
	rules := named("rules.yaml", `- alert: (\w+)`)
	fired := named("rules.test.yaml", `alertname="(\w+)".* value: 1\}`)
	if diff := cmp.Diff(rules, fired); diff != "" || len(rules) < 20 {
		t.Errorf("rules, and those that are fired (-rules +fired):\n%s", diff)
	}
}

func TestTheFilesForPrometheusAndGrafanaCanBeRead(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	data, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" || r.Expr == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("rule %+v lacks something", r)
		}
	}
	var dashboard struct {
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			GridPos struct{ X, Y, W, H int }
		} `json:"panels"`
	}
	data, err = os.ReadFile("../../deploy/grafana/carillon.json")
	if err == nil {
		err = json.Unmarshal(data, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range dashboard.Panels {
		for _, b := range dashboard.Panels[:i] {
			p, q := a.GridPos, b.GridPos
			if a.ID == b.ID || p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Errorf("panels %q and %q share a place or an id", a.Title, b.Title)
			}
		}
	}
}

func TestHealthTellsWhatDoesNotWork(t *testing.T) {
	reg := newRegistry()
	alive, bad := error(nil), errors.New("NATS does not answer")
	h := monitorHandler(reg, func() error { return alive }, []check{{"bus", func(context.Context) error { return bad }}, {"scheduler", func(context.Context) error { return nil }}})
	get := func(path string, status int, part string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != status || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s: %d %s, want %d with %s", path, w.Code, w.Body, status, part)
		}
	}
	get("/healthz", 200, `"status":"ok"`)
	get("/readyz", 503, `{"name":"bus","ok":false,"detail":"NATS does not answer"},{"name":"scheduler","ok":true}`)
	bad = nil
	get("/readyz", 200, `"status":"ok"`)
	alive = errors.New("closed")
	get("/healthz", 503, `"detail":"closed"`)
	get("/metrics", 200, "go_goroutines")
	get("/debug/pprof/", 404, "")
}

func TestProfilesAreForThisMachineOnly(t *testing.T) {
	o := monitorOptions{profile: "0.0.0.0:0"}
	if _, err := o.layers(t.Context(), newRegistry(), nil, nil, nil); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("error %v", err)
	}
}
