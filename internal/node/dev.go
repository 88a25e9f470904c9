package node

import (
	"context"
	_ "embed" // for samples.yaml
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

// devGroup is the group that dev runs an executor for.
const devGroup = "default"

//go:embed samples.yaml
var samples string

type devOptions struct {
	nodeConfig
	runnerOptions
	monitorOptions
	xxl            xxlOptions
	nats, logLevel string
	slots          int
	noSamples      bool

	handlers interface{ Register(e *executor.Executor) } // of the executor, beside its runners; nil is none
	// show is run once the API listens, in the place of a welcome. Nil shows the welcome.
	show func(ctx context.Context, api, nats string)
}

func newDevCommand() *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything in one process, for development",
		Long: "Run everything in one process, on one directory: a NATS server, the log store, a scheduler, an\n" +
			"executor for the group \"" + devGroup + "\", and the API. The first start saves sample jobs. Stop it\n" +
			"with Ctrl-C. The data stays in the directory, and missed fires are caught up at the next start.\n" +
			"Requests from this machine have administrator permissions without signing in.",
		Example: "  carillon dev\n  carillon dev --data /tmp/try --http 127.0.0.1:0 --nats 127.0.0.1:0",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDev(cmd, o) },
	}
	o.flags(cmd.Flags())
	return configurable(cmd, "data", "http", "nats", "no-samples", "slots", "store", "allow", "http-allow", "xxl-job")
}

func (o *devOptions) flags(f *pflag.FlagSet) {
	o.roles = allRoles
	f.StringVar(&o.data, "data", "data", "`directory` for streams and history")
	f.StringVar(&o.http, "http", defaultHTTP, "`address` of the API; port 0 picks a free port")
	f.StringVar(&o.nats, "nats", "127.0.0.1:4222", "`address` of the NATS server; port 0 picks a free port")
	f.StringVar(&o.logLevel, "log-level", "warn", "log level: debug, info, warn or error")
	o.storeFlags(f)
	f.IntVar(&o.slots, "slots", 32, "maximum number of concurrent runs")
	f.BoolVar(&o.noSamples, "no-samples", false, "do not save sample jobs")
	o.nodeConfig.flags(f)
	o.monitorOptions.flags(f)
	o.runnerOptions.flags(f)
	f.StringVar(&o.xxl.listen, "xxl-job", "", "loopback `address` for executors of XXL-JOB, such as 127.0.0.1:8080; port 0 picks a free port (default none)")
	o.xxl.flags(f, "xxl-job-")
}

func runDev(cmd *cobra.Command, o devOptions) (err error) {
	ctx := cmd.Context()
	tuneRuntime()
	log, err := NewLogger(cmd.ErrOrStderr(), o.logLevel, "text")
	if err != nil {
		return err
	}
	if err := checkLoopback("nats", o.nats); err != nil {
		return err
	}
	o.web.Local, o.web.LocalUser = true, cli.UserName()
	listener, err := listen(ctx, o.http, o.web)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	if o.show == nil {
		cmd.Printf(starting, o.data)
	}
	server, keys, err := startNATS(o, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Shutdown()) }()
	inside := jet.Config{URL: server.ClientURL(), Name: "carillon dev", Logger: log, Options: []nats.Option{nats.InProcessServer(server)}}
	conn, err := cluster.Connect(inside)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.OpenBulk(inside); err != nil {
		return err
	}
	if o.gate, err = openGate(inside, *keys); err != nil {
		return err
	}
	defer o.gate.system.Close()
	if err := conn.Setup(ctx, cluster.Assets{}); err != nil {
		return err
	}
	// This NATS is our own, so whatever log store we are given keeps its history.
	if err := conn.Stores().Release(ctx); err != nil {
		return err
	}
	master, err := keptMasterKey(filepath.Join(o.data, "master.key"))
	if err != nil {
		return err
	}
	o.web.MasterKey = master.Text()
	if !o.noSamples {
		if err := saveSamples(ctx, conn); err != nil {
			return err
		}
	}
	o.readStore()
	if o.node == "" {
		o.node = "dev"
	}
	o.web.Settings = settingsOf(cmd.Flags())
	n, err := o.begin(ctx, "carillon-dev", conn, listener, o.monitorOptions, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close(ctx)) }()
	worker, err := devExecutor(conn, o, master.Group(devGroup), n.metrics, log)
	if err != nil {
		return err
	}
	bridge, err := devBridge(ctx, conn, o, n.metrics, log)
	if err != nil {
		return err
	}
	if o.handlers != nil {
		o.handlers.Register(worker)
	}
	layers := append(withExecutors(n.layers, worker, bridge), layer{"welcome", func(ctx context.Context) error {
		if o.show != nil {
			select {
			case <-ctx.Done():
			case <-n.api.Listening():
				o.show(ctx, n.api.Addr().String(), server.ClientURL())
			}
			return nil
		}
		slow := time.AfterFunc(slowStart, func() { cmd.Print(waiting) })
		n.ready(ctx, conn.Cluster().Shards)
		slow.Stop()
		if ctx.Err() == nil {
			cmd.Printf(welcome, n.api.Addr(), server.ClientURL(), o.data, devGroup, o.slots, bridgeNote(bridge), n.api.Addr())
		}
		<-ctx.Done()
		return nil
	}, time.Second})
	return runLayers(ctx, log, layers)
}

// withExecutors adds the executor and the bridge, if there is one, right above ingest, so that what
// runs say at the end is still stored.
func withExecutors(layers []layer, worker *executor.Executor, bridge *xxlBridge) []layer {
	ingest := slices.IndexFunc(layers, func(l layer) bool { return l.name == "ingest" })
	layers = slices.Insert(layers, ingest+1, layer{"executor", worker.Run, 3 * time.Second})
	if bridge != nil {
		layers = slices.Insert(layers, ingest+1, bridge.layers()...)
	}
	return layers
}

// startNATS starts the server on dev's data. Whoever connects from this machine may do
// everything, unless it comes with the credential of an executor.
func startNATS(o devOptions, log *slog.Logger) (*embedded.Server, *callout.Keys, error) {
	if err := os.MkdirAll(o.data, 0o750); err != nil {
		return nil, nil, fmt.Errorf("make data directory: %w", err)
	}
	keys, err := keptNATSKeys(filepath.Join(o.data, "nats.keys"))
	if err != nil {
		return nil, nil, err
	}
	public, err := keys.Public()
	if err != nil {
		return nil, nil, err
	}
	server, err := embedded.Start(embedded.Config{
		StoreDir: filepath.Join(o.data, "nats"), Listen: o.nats, Logger: log, Executors: (*embedded.Executors)(&public),
	})
	return server, keys, err
}

// bridgeNote is the line of the welcome about the bridge, "" if there is none.
func bridgeNote(bridge *xxlBridge) string {
	if bridge == nil {
		return ""
	}
	return fmt.Sprintf("\n  XXL-JOB admin    http://%s", bridge.listener.Addr())
}

// slowStart is longer than a start takes that has no leases to wait for.
const slowStart = 3 * time.Second

const (
	starting = "Starting NATS, the log store, the scheduler, an executor and the API. Their data is in %s.\n"
	waiting  = "Waiting for the leases of all shards. After a kill that takes 15 s: until then the killed process may hold them.\n"
)

const welcome = `
Carillon is running.

  API and console  http://%s
  NATS             %s
  Data             %s
  Executor         group %s, %d slots%s

Try, in another terminal:

  carillon get jobs --server http://%s

Stop it with Ctrl-C.
`

// ready waits until the API listens and there is a node for every shard, this one or
// another, or until ctx is done. After a crash that takes as long as a lease lasts.
func (n *node) ready(ctx context.Context, shards int) {
	select {
	case <-ctx.Done():
		return
	case <-n.api.Listening():
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n.scheduler.Served() < shards {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func devExecutor(conn *cluster.Conn, o devOptions, key *seal.Key, metrics prometheus.Registerer, log *slog.Logger) (*executor.Executor, error) {
	// Everything ends with the process, so nobody would take over what it gives back
	// late: it stops quickly.
	e, err := executor.New(conn.Conn, executor.Config{
		Group: devGroup, Instance: "dev", Slots: o.slots, Version: build.Version(), Logger: log.With("component", "executor"),
		Grace: 500 * time.Millisecond, Patience: 1500 * time.Millisecond, SecretKey: key.Text(),
		Observers: observers(metrics, o.tracer), Schemas: schema.JSON{},
	})
	if err != nil {
		return nil, err
	}
	return e, o.register(e, time.Second, log)
}

// devBridge returns a bridge for executors of XXL-JOB on this machine, who need no token unless a file
// of them is given. Nil: nobody asked for it.
func devBridge(ctx context.Context, conn *cluster.Conn, o devOptions, metrics prometheus.Registerer, log *slog.Logger) (*xxlBridge, error) {
	if o.xxl.listen == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	if err := checkLoopback("xxl-job", o.xxl.listen); err != nil {
		return nil, err
	}
	o.xxl.noToken = o.xxl.noToken || o.xxl.tokenFile == ""
	o.xxl.allowPrivate, o.xxl.allowDefaultToken = true, true
	return o.xxl.open(ctx, conn.Bulk().Conn, metrics, log.With("component", "xxl-job"))
}

// saveSamples saves the sample jobs on a cluster that has never had a job.
func saveSamples(ctx context.Context, conn *cluster.Conn) error {
	groups, err := conn.Groups().All(ctx)
	if err != nil || len(groups) > 0 {
		return err
	}
	docs, err := manifest.Read([]string{"-"}, strings.NewReader(samples))
	if err != nil {
		return fmt.Errorf("read sample jobs: %w", err)
	}
	for _, d := range docs {
		j, err := job.Decode(d.JSON)
		if err != nil {
			return fmt.Errorf("sample job %s: %w", d.Name, err)
		}
		if _, _, err := conn.Jobs().Put(ctx, j, cluster.Edit{At: time.Now(), Author: "carillon dev", Note: "sample"}); err != nil {
			return err
		}
	}
	return nil
}
