package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi"
)

type serverOptions struct {
	nodeConfig
	NATSFlags
	monitorOptions
	xxl                 xxlOptions
	provider            providerOptions
	assets              cluster.Assets
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
		Short: "Run a server on an existing NATS",
		Long: "Run a server on an existing NATS with JetStream. Several servers on one NATS form a cluster: each\n" +
			"schedules a share of the jobs, and the others take over if it dies. With SQLite, one server has\n" +
			"the roles store and api, and the others run with --roles scheduler. With ClickHouse, any number of\n" +
			"servers can have all roles. Users and programs sign in to the API. The first start logs a one-time\n" +
			"link to create the first administrator. On addresses other than loopback, the API requires TLS.",
		Example: "  carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3 --data /var/lib/carillon\n" +
			"  carillon server --http 0.0.0.0:8822 --tls-cert cert.pem --tls-key key.pem --public-url https://carillon.example.org:8822\n" +
			"  carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3 --roles scheduler\n" +
			"  CARILLON_STORE=clickhouse://carillon:…@ch1,ch2/carillon carillon server --nats nats://n1:4222,nats://n2:4222 --replicas 3",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServer(cmd, o) },
	}
	f := cmd.Flags()
	o.ConnectionFlags(f)
	o.monitorOptions.flags(f)
	f.StringVar(&o.natsKeys, "nats-keys", "", "`file` with the server keys for NATS, from \"carillon nats keygen\" (default: from "+keyfile.NATSKeysVariable+";\nwithout keys, executors connect without credentials)")
	f.StringVar(&o.roleList, "roles", strings.Join(allRoles, ","), "roles of this server")
	f.StringVar(&o.http, "http", defaultHTTP, "`address` of the API; port 0 picks a free port")
	f.StringVar(&o.certFile, "tls-cert", "", "TLS certificate `file` of the API; reloaded when it changes")
	f.StringVar(&o.keyFile, "tls-key", "", "key `file` of the TLS certificate")
	f.BoolVar(&o.web.BehindProxy, "behind-proxy", false, "the API is behind a proxy that terminates TLS and sets X-Forwarded-For")
	f.StringVar(&o.web.PublicURL, "public-url", "", "public `address` of the API, for links (default: --http)")
	f.StringSliceVar(&o.web.Hosts, "host", nil, "host `name` that clients can use for the API (default: any with TLS or a proxy, else those of this machine)")
	f.BoolVar(&o.web.NoAssistants, "no-mcp", false, "do not serve tools for assistants on /mcp")
	f.StringVar(&o.masterKey, "master-key", "", "`file` with the master key that seals secrets (default: from "+keyfile.MasterKeyVariable+"; without it, secrets cannot be set)")
	f.StringVar(&o.data, "data", "data", "`directory` for SQLite")
	o.storeFlags(f)
	f.IntVar(&o.assets.Replicas, "replicas", 1, "copies of each stream: 1, 3 or 5")
	f.Var((*sizeFlag)(&o.assets.TrigBytes), "trig-size", "size limit of the trigger stream; can only raise the present limit (default 4GiB)")
	f.Var((*sizeFlag)(&o.assets.EvtBytes), "evt-size", "size limit of the event stream; can only raise the present limit (default 8GiB)")
	f.Var((*sizeFlag)(&o.assets.LogBytes), "log-size", "size limit of the log stream; can only raise the present limit (default 8GiB)")
	f.Var((*sizeFlag)(&o.budget), "group-budget", "maximum bytes per second from the executors of a group; a group that exceeds it is refused for a while (default 16MiB)")
	f.IntVar(&o.web.GroupJobs.Jobs, "group-jobs", webapi.DefaultGroupJobs.Jobs, "maximum number of jobs of an executor group")
	f.Var((*sizeFlag)(&o.web.GroupJobs.Bytes), "group-jobs-size", "maximum size of the jobs of an executor group together, as JSON (default 64MiB)")
	f.IntVar(&o.connections, "group-connections", callout.DefaultConnections, "maximum number of NATS connections of an executor group")
	f.IntVar(&o.assets.Shards, "shards", 0, "number of shards; cannot be changed later (default 64)")
	f.IntVar((*int)(&o.assets.Partitions), "partitions", 0, "number of partitions, each with its own streams of triggers and events: 1 to 16; cannot be changed later (default 1)")
	f.StringVar(&o.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "log format: text or json")
	o.nodeConfig.flags(f)
	o.provider.flags(f)
	f.StringVar(&o.xxl.listen, "xxl-job", "", "`address` for executors of XXL-JOB, such as 0.0.0.0:8080, which this server serves as \"carillon bridge xxl-job\" does (default none)")
	o.xxl.flags(f, "xxl-job-")
	return configurable(cmd, "nats", "nats-ca", "nats-keys", "replicas", "roles", "data", "store", "master-key",
		"http", "tls-cert", "tls-key", "public-url")
}

func runServer(cmd *cobra.Command, o serverOptions) (err error) {
	ctx := cmd.Context()
	tuneRuntime()
	log, err := NewLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	if o.web.MasterKey, err = keyfile.Read(o.masterKey, keyfile.MasterKeyVariable); err != nil {
		return err
	}
	o.readStore()
	if o.roles, err = parseRoles(o.roleList, o.store); err != nil {
		return err
	}
	if !slices.Contains([]int{1, 3, 5}, o.assets.Replicas) {
		return &job.InvalidError{Field: "replicas", Reason: fmt.Sprintf("%d must be 1, 3 or 5", o.assets.Replicas)}
	}
	if o.waiting < 1 {
		return &job.InvalidError{Field: "group-waiting", Reason: fmt.Sprintf("%d must be at least 1", o.waiting)}
	}
	if o.web.GroupJobs.Jobs < 1 {
		return &job.InvalidError{Field: "group-jobs", Reason: fmt.Sprintf("%d must be at least 1", o.web.GroupJobs.Jobs)}
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
	defer conn.Close()
	if o.gate != nil {
		defer o.gate.system.Close()
	}
	if err := conn.AwaitSetup(ctx, o.assets, o.Config); err != nil {
		return err
	}
	o.web.Settings = settingsOf(cmd.Flags())
	n, err := o.begin(ctx, "carillon-server", conn, listener, o.monitorOptions, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close(ctx)) }()
	if listener != nil {
		log.InfoContext(ctx, "api listens", "address", listener.Addr().String(), "tls", o.web.TLS != nil)
	}
	layers := n.layers
	if o.xxl.listen != "" {
		bridge, err := o.xxl.open(ctx, conn.Bulk().Conn, n.metrics, log.With("component", "xxl-job"))
		if err != nil {
			return err
		}
		layers = append(layers, bridge.layers()...)
	}
	return runLayers(ctx, log, layers)
}

// connect connects to NATS, with keys as what NATS knows this server for: once for leases and fires,
// once for bulk reads, and once more as the one that NATS asks about executors.
func (o *serverOptions) connect(ctx context.Context) (*cluster.Conn, error) {
	keys, err := ReadNATSKeys(o.natsKeys)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		o.Key = keys.Server
	}
	conn, err := cluster.Await(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	err = conn.OpenBulk(o.Config)
	if err == nil && keys != nil {
		o.gate, err = openGate(o.Config, *keys)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	if o.gate == nil {
		return conn, nil
	}
	o.gate.budget, o.gate.connections = o.budget, o.connections
	return conn, nil
}

// openGate connects as the one that NATS asks about executors.
func openGate(cfg jet.Config, keys callout.Keys) (*gate, error) {
	cfg.Name, cfg.Key = cfg.Name+" callout", keys.System
	system, err := cluster.Connect(cfg)
	if err != nil {
		return nil, err
	}
	return &gate{system: system.NC, keys: keys}, nil
}
