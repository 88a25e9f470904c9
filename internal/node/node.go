package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"carillon/alert"
	"carillon/auth/callout"
	"carillon/bus"
	"carillon/internal/build"
	"carillon/internal/cli"
	"carillon/job"
	"carillon/ledger"
	"carillon/logstore"
	"carillon/logstore/ingest"
	"carillon/logstore/orphans"
	"carillon/scheduler"
	"carillon/webapi"
)

// defaultHTTP is where dev and server listen, and where the client looks for them.
const defaultHTTP = "127.0.0.1:8822"

// The roles of a server.
const (
	roleScheduler = "scheduler" // owns shards and fires
	roleStore     = "store"     // moves history into the log store, and trims it
	roleAPI       = "api"       // serves the API and the console, from the log store
	roleAlert     = "alert"     // tells people of what went wrong
)

var allRoles = []string{roleScheduler, roleStore, roleAPI, roleAlert}

// nodeConfig says what a server is made of.
type nodeConfig struct {
	roles    []string
	http     string
	web      webapi.Config // how the API is served
	data     string        // directory
	store    string        // "sqlite", which is a file in data, or the address of a shared one
	sql      string        // address of a shared store for people's SQL; empty is none
	node     string
	lanes    int
	keepRuns time.Duration
	keepLogs time.Duration
	allow    []string             // what alerts may call though it is not public
	tracer   trace.TracerProvider // nil: nobody traces
	gate     *gate                // nil: NATS does not ask who may be an executor
}

// gate is what a server answers NATS with.
type gate struct {
	system *nats.Conn
	keys   callout.Keys
	// See callout.Config.
	budget      int64
	connections int
}

func (c *nodeConfig) flags(f *pflag.FlagSet) {
	f.StringVar(&c.node, "node", "", "the node's `name`, unique in the cluster (default: host name and a random part)")
	f.IntVar(&c.lanes, "lanes", 2, "maximum number of batches that the scheduler sends at once")
	f.StringSliceVar(&c.allow, "alert-allow", nil, "private `host`, address or network that notifications may be sent to, such as mail.internal:587 or 10.1.0.0/16")
	f.Var(cli.Duration(&c.keepRuns, 30*24*time.Hour), "keep-runs", "how long to keep runs, such as 30d, unless \"carillon retention set\" overrides it")
	f.Var(cli.Duration(&c.keepLogs, 7*24*time.Hour), "keep-logs", "how long to keep log lines, such as 7d, unless \"carillon retention set\" overrides it")
}

func parseRoles(text, store string) ([]string, error) {
	roles := strings.Split(text, ",")
	for _, r := range roles {
		if !slices.Contains(allRoles, r) {
			return nil, &job.InvalidError{Field: "roles", Reason: fmt.Sprintf("%q must be a list of %s", text, strings.Join(allRoles, ", "))}
		}
	}
	if slices.Contains(roles, roleAPI) && !slices.Contains(roles, roleStore) && !isShared(store) {
		return nil, &job.InvalidError{Field: "roles", Reason: "has api without store: the API answers from the file beside it, so one server of a cluster has both, or --store names a shared one"}
	}
	return roles, nil
}

// node is what a server is made of, ready to run.
type node struct {
	layers    []layer
	metrics   *prometheus.Registry
	store     logstore.Store       // nil without need of it
	api       *webapi.Server       // nil without that role
	scheduler *scheduler.Scheduler // nil without that role
}

// close releases what running the layers does not.
func (n *node) close() error {
	if n.store == nil {
		return nil
	}
	return n.store.Close()
}

// open makes the node on conn. The API takes listener, which is nil without it. On an
// error everything that was opened is closed.
func (c nodeConfig) open(ctx context.Context, conn *bus.Conn, listener net.Listener, log *slog.Logger) (_ *node, err error) {
	n := &node{metrics: newRegistry()}
	if c.node == "" { // one name for all layers, in logs and leases
		c.node = scheduler.NodeName()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	reg := n.metrics
	n.layers = append(n.layers, layer{"tokens", func(ctx context.Context) error { return conn.FollowTokens(ctx, log.With("component", "tokens")) }, time.Second})
	if c.gate != nil { // below all others: executors are to come in until the end
		g, err := callout.New(conn, c.gate.system, c.gate.keys, callout.Config{Logger: log.With("component", "callout"), Registerer: reg, Budget: c.gate.budget, Connections: c.gate.connections})
		if err != nil {
			return nil, err
		}
		n.layers = append(n.layers, layer{"callout", g.Run, time.Second})
	}
	if slices.Contains(c.roles, roleStore) || slices.Contains(c.roles, roleAPI) {
		if n.store, err = c.openStore(ctx, conn, log); err != nil {
			return nil, err
		}
	}
	if slices.Contains(c.roles, roleStore) {
		c.keepLines(ctx, conn, n.store, log)
		in, err := ingest.New(conn, n.store, ingest.Config{Node: c.node, Logger: log.With("component", "ingest"), Metrics: reg})
		if err != nil {
			return nil, err
		}
		patrol, err := ledger.NewPatrol(conn, n.store, c.retention(), log.With("component", "ledger"), reg)
		if err != nil {
			return nil, err
		}
		finder, err := orphans.New(conn, n.store, log.With("component", "orphans"), reg)
		if err != nil {
			return nil, err
		}
		n.layers = append(n.layers,
			layer{"ingest", in.Run, 3 * time.Second},
			layer{"orphans", func(ctx context.Context) error { return c.endOrphans(ctx, conn, finder, log) }, time.Second},
			layer{"retention", func(ctx context.Context) error { return c.retain(ctx, conn, n.store, log) }, time.Second},
			layer{"patrol", func(ctx context.Context) error { return c.patrol(ctx, conn, patrol, log) }, time.Second})
	}
	if slices.Contains(c.roles, roleScheduler) {
		n.scheduler, err = scheduler.New(conn, scheduler.Config{Node: c.node, Lanes: c.lanes, Version: build.Version(), Logger: log, Registerer: reg, Tracer: c.tracer})
		if err != nil {
			return nil, err
		}
		n.layers = append(n.layers, layer{"scheduler", n.scheduler.Run, 3 * time.Second})
	}
	if slices.Contains(c.roles, roleAlert) {
		alerter, err := alert.New(conn, alert.Config{
			Node: c.node, MasterKey: c.web.MasterKey, PublicURL: c.publicURL(listener), Allow: c.allow, Logger: log.With("component", "alert"), Metrics: reg,
		})
		if err != nil {
			return nil, err
		}
		n.layers = append(n.layers, layer{"alert", alerter.Run, 3 * time.Second})
	}
	if slices.Contains(c.roles, roleAPI) {
		web := c.web
		web.Retention = new(c.retention())
		web.Listener, web.Version, web.Registerer, web.Gatherer = listener, build.Version(), reg, reg
		web.Executors = c.gate != nil
		web.Logger, web.Grace = log.With("component", "webapi"), 1500*time.Millisecond
		shown, watch := c.stoodIn(conn, n.store, log)
		n.layers = append(n.layers, watch...)
		n.api, err = webapi.New(conn, shown, web)
		if err != nil {
			return nil, err
		}
		n.layers = append(n.layers, layer{"webapi", n.api.Run, 2 * time.Second})
	}
	return n, nil
}

// newRegistry returns a registry with the metrics of any process.
func newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// watched puts what serves the metrics below all other layers.
func (n *node) watched(ctx context.Context, conn *bus.Conn, o monitorOptions, log *slog.Logger) error {
	ready := []check{{"bus", func(ctx context.Context) error {
		if _, err := conn.GetHold(ctx); err != nil {
			return errors.New("JetStream does not answer")
		}
		err := conn.CheckRoom(ctx)
		if _, full := errors.AsType[*bus.NoRoomError](err); err != nil && !full {
			return errors.New("JetStream does not answer")
		}
		return err
	}}}
	if n.metrics != nil {
		n.metrics.MustRegister(roomMetrics(ctx, conn)...)
	}
	if n.scheduler != nil {
		ready = append(ready, check{"scheduler", func(context.Context) error {
			// Where there are more nodes than shards, one stands by.
			if n.scheduler.Owned() == 0 && n.scheduler.Served() < conn.Cluster().Shards {
				return errors.New("the node fires for no shard yet")
			}
			return nil
		}})
	}
	if n.store != nil {
		ready = append(ready, check{"log_store", func(ctx context.Context) error {
			if _, err := n.store.Stats(ctx); err != nil {
				return errors.New("the log store does not answer")
			}
			return nil
		}})
	}
	layers, err := o.layers(ctx, n.metrics, connAlive(conn), ready, log)
	n.layers = append(layers, n.layers...)
	return err
}

// connAlive returns a check of whether the process can ever work again: a connection that
// is closed, rather than interrupted, stays so.
func connAlive(conn *bus.Conn) func() error {
	return func() error {
		if conn.NC.IsClosed() {
			return errors.New("the connection to NATS is closed for good")
		}
		return nil
	}
}

// publicURL returns where people reach the console: as it was said, or where it listens;
// "" when neither is known.
func (c nodeConfig) publicURL(listener net.Listener) string {
	switch {
	case c.web.PublicURL != "" || listener == nil:
		return c.web.PublicURL
	case c.web.TLS != nil:
		return "https://" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}

// listen takes the API's address, before anything else is started: a port that is
// taken is the commonest reason why a start fails.
func listen(ctx context.Context, addr string, web webapi.Config) (net.Listener, error) {
	if err := web.CheckAddr(addr); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the API on the address of --http: %w", err)
	}
	return l, nil
}

// tuneRuntime gives small machines more threads of Go code than cores: a lane that
// waits for one of two to be free is late.
func tuneRuntime() {
	if n := runtime.NumCPU(); n <= 4 && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(2 * n)
	}
}

// checkLoopback refuses an address that other machines can reach, before anything is
// started.
func checkLoopback(field, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be HOST:PORT, as in %s", addr, defaultHTTP)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be a loopback address: nobody needs to sign in, so whoever reached it could run programs", addr)}
	}
	return nil
}
