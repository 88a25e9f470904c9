package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/ledger/backfills"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/logstore/targets"
	"github.com/carillon-scheduler/carillon/logstore/waits"
	"github.com/carillon-scheduler/carillon/scheduler"
	"github.com/carillon-scheduler/carillon/scheduler/orphans"
	"github.com/carillon-scheduler/carillon/webapi"
)

// nodeConfig says what a server is made of.
type nodeConfig struct {
	roles     []string
	http      string
	web       webapi.Config // how the API is served
	data      string        // directory
	store     string        // "sqlite", which is a file in data, or the address of a shared one
	sql       string        // address of a shared store for people's SQL; empty is none
	node      string
	lanes     int
	waiting   int                  // runs of an executor group that may wait
	allow     []string             // what alerts may call though it is not public
	heartbeat string               // what to call while all is well; "": nobody
	tracer    trace.TracerProvider // nil: nobody traces
	gate      *gate                // nil: NATS does not ask who may be an executor
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
	f.IntVar(&c.waiting, "group-waiting", scheduler.DefaultGroupWaiting, "maximum number of runs of an executor group that wait for an executor; further fires are missed")
	f.StringSliceVar(&c.allow, "alert-allow", nil, "private `host`, address or network that notifications may be sent to, such as mail.internal:587 or 10.1.0.0/16")
	f.StringVar(&c.heartbeat, "heartbeat-url", "", "`URL` to call every minute while all jobs can fire, for a monitor that tells you when Carillon is down")
}

// node is what a server is made of, ready to run.
type node struct {
	layers    []layer
	metrics   *prometheus.Registry
	store     logstore.Store       // nil without need of it
	api       *webapi.Server       // nil without that role
	scheduler *scheduler.Scheduler // nil without that role
	endTraces func(context.Context)
}

// close releases what running the layers does not.
func (n *node) close(ctx context.Context) (err error) {
	if n.store != nil {
		err = n.store.Close()
	}
	n.endTraces(ctx)
	return err
}

// begin makes the node on conn, with its traces and with what tells how it is. Service is its name in
// traces. The API takes listener, which is nil without it. On an error all that was opened is closed.
func (c *nodeConfig) begin(ctx context.Context, service string, conn *cluster.Conn, listener net.Listener, o monitorOptions, log *slog.Logger) (_ *node, err error) {
	n := &node{metrics: newRegistry()}
	if c.tracer, n.endTraces, err = startTraces(ctx, service, log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(ctx))
		}
	}()
	c.web.Profiles = o.profile != ""
	if err := c.open(ctx, n, conn, listener, log); err != nil {
		return nil, err
	}
	return n, n.watched(ctx, conn, o, log)
}

// open opens what the node consists of.
func (c nodeConfig) open(ctx context.Context, n *node, conn *cluster.Conn, listener net.Listener, log *slog.Logger) (err error) {
	if c.node == "" { // one name for all layers, in logs and leases
		c.node = scheduler.NodeName()
	}
	reg, bulk := n.metrics, conn.Bulk()
	n.layers = append(n.layers,
		layer{"tokens", func(ctx context.Context) error { return conn.FollowTokens(ctx, log.With("component", "tokens")) }, time.Second},
		layer{"server", func(ctx context.Context) error { conn.Nodes().Announce(ctx, c.node, log); return nil }, 2 * time.Second})
	if c.gate != nil { // below all others: executors are to come in until the end
		g, err := callout.New(conn, c.gate.system, c.gate.keys, callout.Config{Logger: log.With("component", "callout"), Registerer: reg, Budget: c.gate.budget, Connections: c.gate.connections})
		if err != nil {
			return err
		}
		n.layers = append(n.layers, layer{"callout", g.Run, time.Second})
	}
	if slices.Contains(c.roles, roleStore) || slices.Contains(c.roles, roleAPI) {
		if n.store, err = c.openStore(ctx, bulk, log); err != nil {
			return err
		}
		switch err := ingest.Bind(ctx, bulk, n.store, c.node); {
		case errors.Is(err, job.ErrConflict):
			return err
		case err != nil: // the ingester finds out
			log.WarnContext(ctx, "log store not identified", "error", err)
		}
	}
	if slices.Contains(c.roles, roleStore) {
		c.keepLines(ctx, bulk, n.store, log)
		in, err := ingest.New(bulk, n.store, ingest.Config{Node: c.node, Logger: log.With("component", "ingest"), Metrics: reg})
		if err != nil {
			return err
		}
		patrol, err := ledger.NewPatrol(bulk, n.store, logstore.DefaultRetention(), log.With("component", "ledger"), reg)
		if err != nil {
			return err
		}
		finder, err := orphans.New(bulk, n.store, log.With("component", "orphans"), reg)
		if err != nil {
			return err
		}
		judge := targets.New(bulk, n.store)
		book := ledger.New(bulk, n.store, logstore.DefaultRetention())
		awaited := waits.NewFinder(bulk, n.store, book, log.With("component", "waits"))
		filler := backfills.New(bulk, book, log.With("component", "backfills"))
		n.layers = append(n.layers,
			layer{"ingest", in.Run, 3 * time.Second},
			c.chore(bulk, roleOrphans, orphansEvery, finder.Round, log),
			c.chore(bulk, roleTargets, targetsEvery, judge.Round, log),
			c.chore(bulk, roleWaits, waitsEvery, awaited.Round, log),
			c.chore(bulk, roleBackfills, backfillsEvery, filler.Round, log),
			layer{"retention", func(ctx context.Context) error { return c.retain(ctx, bulk, n.store, log) }, 3 * time.Second},
			c.chore(bulk, rolePatrol, patrolEvery, patrol.Round, log))
	}
	if slices.Contains(c.roles, roleScheduler) {
		n.scheduler, err = scheduler.New(conn, scheduler.Config{Node: c.node, Lanes: c.lanes, GroupWaiting: c.waiting, Version: build.Version(), Logger: log, Registerer: reg, Tracer: c.tracer})
		if err != nil {
			return err
		}
		n.layers = append(n.layers, layer{"scheduler", n.scheduler.Run, 3 * time.Second})
	}
	if slices.Contains(c.roles, roleAlert) {
		alerter, err := alert.New(bulk, alert.Config{
			Node: c.node, MasterKey: c.web.MasterKey, PublicURL: c.publicURL(listener), Allow: c.allow, HeartbeatURL: c.heartbeat, Logger: log.With("component", "alert"), Metrics: reg,
		})
		if err != nil {
			return err
		}
		n.layers = append(n.layers, layer{"alert", alerter.Run, 3 * time.Second})
	}
	if slices.Contains(c.roles, roleAPI) {
		web := c.web
		web.Listener, web.Version, web.Registerer, web.Gatherer = listener, build.Version(), reg, reg
		web.Executors = c.gate != nil
		web.Logger, web.Grace = log.With("component", "webapi"), 1500*time.Millisecond
		shown, watch := c.stoodIn(bulk, n.store, log)
		n.layers = append(n.layers, watch...)
		n.api, err = webapi.New(bulk, shown, web)
		if err != nil {
			return err
		}
		n.layers = append(n.layers, layer{"webapi", n.api.Run, 2 * time.Second}, c.chore(bulk, roleMonths, monthsEvery, n.api.MailMonths, log))
	}
	return nil
}
