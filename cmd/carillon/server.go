package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carillon/auth/callout"
	"carillon/bus"
	"carillon/job"
)

// natsOptions are the flags of commands that connect to NATS.
type natsOptions struct {
	bus.Config
}

func (o *natsOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.URL, "nats", "nats://127.0.0.1:4222", "`URLs` of the NATS servers, separated by commas")
	f.StringVar(&o.Credentials, "creds", "", "NATS credentials `file`")
	f.StringVar(&o.CAFile, "nats-ca", "", "`file` of certificate authorities for NATS")
	f.StringVar(&o.CertFile, "nats-cert", "", "client certificate `file` for NATS")
	f.StringVar(&o.KeyFile, "nats-key", "", "client key `file` for NATS")
}

type serverOptions struct {
	nodeConfig
	natsOptions
	monitorOptions
	provider            providerOptions
	assets              bus.Assets
	roleList, masterKey string
	natsKeys            string
	budget              int64
	connections         int
	certFile, keyFile   string
	logLevel, logFormat string
}

func newServerCommand() *cobra.Command {
	var o serverOptions
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run a server on an existing NATS; several of them form a cluster",
		Long: "Run a server on an existing NATS with JetStream. Several servers on one NATS form a cluster: each fires for a share\n" +
			"of the jobs, and the others take over the share of one that dies. With the history in a file, one of them has the\n" +
			"roles store and api, and the others are started with --roles scheduler. With ClickHouse, as many have them as like.\n" +
			"People and programs sign in to the API; the first start writes a one-time link into the log, by which the first\n" +
			"administrator is created. Beyond this machine it is served over TLS only.",
		Example: "  carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3 --data /var/lib/carillon\n" +
			"  carillon server --http 0.0.0.0:8822 --tls-cert cert.pem --tls-key key.pem --public-url https://carillon.example.org:8822\n" +
			"  carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3 --roles scheduler\n" +
			"  CARILLON_STORE=clickhouse://carillon:…@ch1,ch2/carillon carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServer(cmd, o) },
	}
	f := cmd.Flags()
	o.natsOptions.flags(f)
	o.monitorOptions.flags(f)
	f.StringVar(&o.natsKeys, "nats-keys", "", "the `file` of the keys by which NATS knows this server, from \"carillon nats keygen\" (default: from "+natsKeysVariable+";\nwithout them, executors have no credentials)")
	f.StringVar(&o.roleList, "roles", strings.Join(allRoles, ","), "what this server does")
	f.StringVar(&o.http, "http", defaultHTTP, "the `address` of the API; port 0 is any that is free")
	f.StringVar(&o.certFile, "tls-cert", "", "certificate `file` with which the API speaks TLS; it is read again when it changes")
	f.StringVar(&o.keyFile, "tls-key", "", "key `file` of the certificate")
	f.BoolVar(&o.web.BehindProxy, "behind-proxy", false, "clients reach the API through a proxy only, which speaks TLS with them and sets X-Forwarded-For")
	f.StringVar(&o.web.PublicURL, "public-url", "", "the `address` at which people reach the API, for links (default: that of --http)")
	f.StringSliceVar(&o.web.Hosts, "host", nil, "a `name` by which clients may call the API (default: with TLS or a proxy any, else those of this machine)")
	f.StringVar(&o.masterKey, "master-key", "", "the `file` of the key that seals secrets (default: from "+masterKeyVariable+"; without one, they cannot be set)")
	f.StringVar(&o.data, "data", "data", "the `directory` for history in a file")
	f.StringVar(&o.store, "store", "", "where history is kept: `sqlite`, or clickhouse://USER:PASSWORD@HOST/DATABASE (in the environment as\n"+storeVariable+", which shows the password to fewer)")
	f.StringVar(&o.sql, "sql", "", "clickhouse://USER:PASSWORD@HOST/DATABASE of the same, with a user who may only read, for \"carillon sql\" (in the\nenvironment as "+sqlVariable+"; default: there is no SQL)")
	f.IntVar(&o.assets.Replicas, "replicas", 1, "copies of each stream: 1, 3 or 5")
	f.Var((*sizeFlag)(&o.assets.TrigBytes), "trig-size", "how large the stream of triggers may be; raises its limit, and never lowers it (default 4GiB)")
	f.Var((*sizeFlag)(&o.assets.EvtBytes), "evt-size", "how large the stream of events may be; raises its limit, and never lowers it (default 8GiB)")
	f.Var((*sizeFlag)(&o.assets.LogBytes), "log-size", "how large the stream of log lines may be; raises its limit, and never lowers it (default 8GiB)")
	f.Var((*sizeFlag)(&o.budget), "group-budget", "how many bytes a second the executors of a group may send; a group that sends more is refused for a while (default 16MiB)")
	f.IntVar(&o.connections, "group-connections", callout.DefaultConnections, "how many connections to NATS the executors of a group may have; further ones are refused")
	f.IntVar(&o.assets.Shards, "shards", 0, "slices of the job space, fixed when the cluster is made (default 64)")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	o.nodeConfig.flags(f)
	o.provider.flags(f)
	return configurable(cmd)
}

func runServer(cmd *cobra.Command, o serverOptions) (err error) {
	ctx := cmd.Context()
	tuneRuntime()
	log, err := newLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	if o.web.MasterKey, err = keyFrom(o.masterKey, masterKeyVariable); err != nil {
		return err
	}
	o.store, o.sql = storeFlag(o.store), cmp.Or(o.sql, os.Getenv(sqlVariable))
	if o.roles, err = parseRoles(o.roleList, o.store); err != nil {
		return err
	}
	if !slices.Contains([]int{1, 3, 5}, o.assets.Replicas) {
		return &job.InvalidError{Field: "replicas", Reason: fmt.Sprintf("%d must be 1, 3 or 5", o.assets.Replicas)}
	}
	if o.connections < 1 {
		return &job.InvalidError{Field: "group-connections", Reason: fmt.Sprintf("%d must be at least 1", o.connections)}
	}
	var listener net.Listener
	if slices.Contains(o.roles, roleAPI) {
		if err = serveTLS(&o.web, o.certFile, o.keyFile); err != nil {
			return err
		}
		if o.web.Provider, err = o.provider.open(); err != nil {
			return err
		}
		if listener, err = listen(ctx, o.http, o.web); err != nil {
			return err
		}
		defer func() { _ = listener.Close() }()
	}
	o.Name, o.Logger = "carillon server "+o.node, log
	conn, err := o.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	if o.gate != nil {
		defer o.gate.system.Close()
	}
	if err := conn.AwaitSetup(ctx, o.assets, o.Config); err != nil {
		return err
	}
	tracer, endTraces, err := startTraces(ctx, "carillon-server")
	if err != nil {
		return err
	}
	defer endTraces(ctx)
	o.tracer = tracer
	o.web.Settings, o.web.Profiles = settingsOf(cmd.Flags()), o.profile != ""
	n, err := o.open(ctx, conn, listener, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	if err := n.watched(ctx, conn, o.monitorOptions, log); err != nil {
		return err
	}
	if listener != nil {
		log.InfoContext(ctx, "api listens", "address", listener.Addr().String(), "tls", o.web.TLS != nil)
	}
	return runLayers(ctx, log, n.layers)
}

// connect connects to NATS, with keys as what NATS knows this server for, and a second
// time as the one that it asks about executors.
func (o *serverOptions) connect(ctx context.Context) (*bus.Conn, error) {
	keys, err := readNATSKeys(o.natsKeys)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		o.Key = keys.Server
	}
	conn, err := bus.Await(ctx, o.Config)
	if err != nil || keys == nil {
		return conn, err
	}
	o.gate, err = openGate(o.Config, *keys)
	if err != nil {
		conn.NC.Close()
		return nil, err
	}
	o.gate.budget, o.gate.connections = o.budget, o.connections
	return conn, nil
}

// openGate connects as the one that NATS asks about executors.
func openGate(cfg bus.Config, keys callout.Keys) (*gate, error) {
	cfg.Name, cfg.Key = cfg.Name+" callout", keys.System
	system, err := bus.Connect(cfg)
	if err != nil {
		return nil, err
	}
	return &gate{system: system.NC, keys: keys}, nil
}

func newLogger(to io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, &job.InvalidError{Field: "log-level", Reason: fmt.Sprintf("%q must be debug, info, warn or error", level)}
	}
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: plainly}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(to, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, opts)), nil
	default:
		return nil, &job.InvalidError{Field: "log-format", Reason: fmt.Sprintf("%q must be text or json", format)}
	}
}

// plainly says what an error means by which nats.go refuses to send while it is not
// connected. Packages say so where they judge an error; others log it as it came.
func plainly(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok && errors.Is(err, nats.ErrReconnectBufExceeded) {
		a.Value = slog.StringValue(strings.ReplaceAll(err.Error(), nats.ErrReconnectBufExceeded.Error(), "not connected to NATS"))
	}
	return a
}
