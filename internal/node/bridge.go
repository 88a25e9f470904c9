package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/admin"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/jobapi"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// xxlOptions say how executors of XXL-JOB are served.
type xxlOptions struct {
	listen            string
	groups            []string
	tokenFile         string
	allowDefaultToken bool
	noToken           bool
	allowPrivate      bool
	allow             []string
	rewrite           []string
	executorCA        string
	executorTrust     []string
	certFile, keyFile string
	api               string
	apiTokenFile      string
	apiCA             string
	zone              string
	cfg               xxljob.Config
}

// flags adds the flags of the options, whose names begin with prefix.
func (o *xxlOptions) flags(f *pflag.FlagSet, prefix string) {
	f.StringSliceVar(&o.groups, prefix+"groups", nil, "executor `groups` to serve (default: all that executors register for)")
	f.StringVar(&o.tokenFile, prefix+"access-token-file", "", "`file` of access tokens: a line TOKEN for all groups, or APPNAME TOKEN for one")
	f.BoolVar(&o.allowDefaultToken, prefix+"allow-default-token", false, "accept "+admin.DefaultToken+", the access token that XXL-JOB ships with, in the access token file")
	f.BoolVar(&o.noToken, prefix+"no-access-token", false, "let executors of XXL-JOB attach without an access token")
	f.BoolVar(&o.allowPrivate, prefix+"allow-private-addresses", false, "call executors of XXL-JOB at private and loopback addresses, too (never link-local ones, such as a cloud's metadata)")
	f.StringSliceVar(&o.allow, prefix+"executor-allow", nil, "private `hosts`, addresses and networks at which executors of XXL-JOB are called, such as 10.1.0.0/16 (default none)")
	f.StringArrayVar(&o.rewrite, prefix+"rewrite", nil, "call executors of XXL-JOB that register the address FROM at the address TO, `FROM=TO`; can be repeated")
	f.StringVar(&o.executorCA, prefix+"executor-ca", "", "CA `file` for the certificates of executors of XXL-JOB with https (default: the system's CAs)")
	f.StringSliceVar(&o.executorTrust, prefix+"executor-trust", nil, "`hosts` of executors of XXL-JOB whose certificates are not checked, as XXL-JOB checks none (default none)")
	f.IntVar(&o.cfg.Slots, prefix+"slots", 64, "maximum number of concurrent runs per executor of XXL-JOB")
	f.DurationVar(&o.cfg.Silence, prefix+"silence", 90*time.Second, "how long to wait for the end of a run that its executor no longer knows")
	f.DurationVar(&o.cfg.CallTimeout, prefix+"call-timeout", 3*time.Second, "how long a call to an executor of XXL-JOB may take")
	f.Int32Var(&o.cfg.FirstJobID, prefix+"first-job-id", 1_000_000, "lowest jobId for jobs that were not imported; set it above the greatest id in xxl_job_info")
	f.StringVar(&o.certFile, prefix+"tls-cert", "", "TLS certificate `file` for executors of XXL-JOB; reloaded when it changes")
	f.StringVar(&o.keyFile, prefix+"tls-key", "", "key `file` of the TLS certificate")
	f.StringVar(&o.api, prefix+"api", "", "`address` of Carillon's API, for executors that manage jobs (addJob and the like; default: they cannot)")
	f.StringVar(&o.apiTokenFile, prefix+"api-token-file", "", "`file` with an API token for --"+prefix+"api; use the token of an editor of these executors' groups only")
	f.StringVar(&o.apiCA, prefix+"api-ca", "", "CA `file` for the certificate of --"+prefix+"api")
	f.StringVar(&o.zone, prefix+"zone", "UTC", "time `zone` of the cron expressions of addJob and updateJob")
}

// privateNetworks are what --allow-private-addresses allows: all that organisations number by
// themselves, and this machine.
var privateNetworks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "127.0.0.0/8", "::1/128"}

// guard returns what decides which addresses are called.
func (o *xxlOptions) guard() (*outbound.Guard, error) {
	allow := o.allow
	if o.allowPrivate {
		allow = append(slices.Clip(allow), privateNetworks...)
	}
	g, err := outbound.NewGuard(allow, adviseAllow)
	if err != nil {
		return nil, &job.InvalidError{Field: "executor-allow", Reason: err.Error()}
	}
	return g, nil
}

// adviseAllow says with which flags an address that is not public is called.
func adviseAllow(addr netip.Addr) string {
	flags := "--executor-allow " + addr.String()
	if slices.ContainsFunc(privateNetworks, func(network string) bool { return netip.MustParsePrefix(network).Contains(addr) }) {
		flags += " or --allow-private-addresses"
	}
	return "allow it with " + flags + " if executors are there"
}

// rewrites returns what addresses are called instead of those that executors register.
func (o *xxlOptions) rewrites() (map[string]string, error) {
	to := map[string]string{}
	for _, pair := range o.rewrite {
		from, other, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, &job.InvalidError{Field: "rewrite", Reason: fmt.Sprintf("%q must be FROM=TO, two addresses such as http://172.17.0.2:9999", pair)}
		}
		to[from] = other
	}
	return to, nil
}

// trust returns which certificates of executors are accepted.
func (o *xxlOptions) trust() (peer.Trust, error) {
	t := peer.Trust{Hosts: o.executorTrust}
	if o.executorCA == "" {
		return t, nil
	}
	data, err := os.ReadFile(o.executorCA)
	if err != nil {
		return t, fmt.Errorf("read CAs of executors: %w", err)
	}
	t.CAs = x509.NewCertPool()
	if !t.CAs.AppendCertsFromPEM(data) {
		return t, &job.InvalidError{Field: "executor-ca", Reason: o.executorCA + " has no certificate in PEM"}
	}
	return t, nil
}

// tokens returns the access tokens.
func (o *xxlOptions) tokens() (*admin.Tokens, error) {
	switch {
	case o.tokenFile == "" && !o.noToken:
		return nil, &job.InvalidError{Field: "access-token-file", Reason: "must name a file of access tokens; to let executors attach without one, give --no-access-token"}
	case o.tokenFile != "" && o.noToken:
		return nil, &job.InvalidError{Field: "no-access-token", Reason: "contradicts --access-token-file"}
	case o.noToken:
		return admin.NoTokens(), nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("read access tokens: %w", err)
	}
	return admin.ReadTokens(string(text), o.allowDefaultToken)
}

// xxlBridge is a bridge that is ready to run.
type xxlBridge struct {
	*xxljob.Bridge
	listener net.Listener
	tls      *tls.Config
	server   *http.Server
}

// open makes a bridge on conn, which takes the address that it listens on.
func (o *xxlOptions) open(ctx context.Context, conn *jet.Conn, reg prometheus.Registerer, log *slog.Logger) (*xxlBridge, error) {
	tokens, err := o.tokens()
	if err != nil {
		return nil, err
	}
	guard, err := o.guard()
	if err != nil {
		return nil, err
	}
	cfg := o.cfg
	cfg.Groups, cfg.Token, cfg.Dial, cfg.Logger, cfg.Registerer = o.groups, tokens.Of, guard.Dial, log, reg
	if cfg.Trust, err = o.trust(); err != nil {
		return nil, err
	}
	if cfg.Rewrite, err = o.rewrites(); err != nil {
		return nil, err
	}
	b := &xxlBridge{}
	if b.Bridge, err = xxljob.New(conn, cfg); err != nil {
		return nil, err
	}
	if err := b.CheckCredential(ctx); err != nil {
		return nil, err
	}
	if o.certFile+o.keyFile != "" {
		if b.tls, err = certificateOf(o.certFile, o.keyFile); err != nil {
			return nil, err
		}
	}
	refuse := func(address string) error {
		u, err := url.Parse(b.Rewritten(address))
		if err != nil {
			return err
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		return guard.Check(net.JoinHostPort(u.Hostname(), port))
	}
	jobs, err := o.jobs(b.Bridge)
	if err != nil {
		return nil, err
	}
	b.server = admin.New(b.Bridge, admin.Config{Tokens: tokens, Refuse: refuse, Jobs: jobs, Logger: log}).Server()
	var lc net.ListenConfig
	if b.listener, err = lc.Listen(ctx, "tcp", o.listen); err != nil {
		return nil, fmt.Errorf("listen for executors of XXL-JOB: %w", err)
	}
	log.InfoContext(ctx, "bridge listens", "address", b.listener.Addr().String(), "tls", b.tls != nil)
	return b, nil
}

// jobs returns the API by which executors manage jobs, nil if they cannot.
func (o *xxlOptions) jobs(b *xxljob.Bridge) (*jobapi.API, error) {
	switch {
	case o.api == "" && o.apiTokenFile+o.apiCA == "":
		return nil, nil //nolint:nilnil // there is none, and that is no error
	case o.api == "":
		return nil, &job.InvalidError{Field: "api", Reason: "must be the address of Carillon's API, such as https://carillon.example.org"}
	case o.noToken:
		return nil, &job.InvalidError{Field: "api", Reason: "contradicts --no-access-token: only executors with their group's own access token may manage jobs"}
	}
	if _, err := cron.LoadZone(o.zone); err != nil {
		return nil, &job.InvalidError{Field: "zone", Reason: err.Error()}
	}
	api, err := client.New(o.api, "xxl-job")
	if err != nil {
		return nil, &job.InvalidError{Field: "api", Reason: err.Error()}
	}
	if o.apiTokenFile != "" { // a server that signs nobody in needs none
		token, err := os.ReadFile(o.apiTokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the API token: %w", err)
		}
		api.Authorize(strings.TrimSpace(string(token)))
	}
	if o.apiCA != "" {
		if err := api.Trust(o.apiCA); err != nil {
			return nil, err
		}
	}
	return jobapi.New(api, b, o.zone), nil
}

// layers returns what the bridge consists of: who serves executors rests on the bridge.
func (b *xxlBridge) layers() []layer {
	return []layer{
		{"xxl-job", b.Run, 3 * time.Second},
		{"xxl-job admin", func(ctx context.Context) error {
			l := b.listener
			if b.tls != nil {
				l = tls.NewListener(l, b.tls)
			}
			return serveWith(ctx, l, b.server)
		}, time.Second},
	}
}

type bridgeOptions struct {
	NATSFlags
	monitorOptions
	xxl                 xxlOptions
	credential, check   string
	logLevel, logFormat string
}

func newBridgeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bridge", Short: "Run executors of other schedulers on Carillon", Example: "  carillon bridge xxl-job --help", Args: cli.NoArgs}
	cmd.AddCommand(newXXLJobCommand())
	return cmd
}

func newXXLJobCommand() *cobra.Command {
	var o bridgeOptions
	cmd := &cobra.Command{
		Use:   "xxl-job",
		Short: "Let executors of XXL-JOB attach unchanged",
		Long: "Run a bridge to which executors of XXL-JOB attach unchanged, as if it were their admin. Each executor\n" +
			"becomes an instance of the executor group that is named by its AppName, and runs the jobs of that\n" +
			"group. Point xxl.job.admin.addresses of the executors at the address of --listen. Several bridges\n" +
			"share the executors, and take over from one that dies. All versions from 2.2 on can attach.\n\n" +
			"Executors must show an access token (xxl.job.accessToken), and are called at the address that they\n" +
			"register. With --check, the command only checks whether one executor would attach.",
		Example: "  carillon bridge xxl-job --nats nats://n1:4222 --listen 0.0.0.0:8080 --groups billing --credential bridge.seed --access-token-file tokens\n" +
			"  carillon bridge xxl-job --check http://10.0.0.5:9999 --access-token-file tokens --allow-private-addresses",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBridge(cmd, o) },
	}
	f := cmd.Flags()
	o.ConnectionFlags(f)
	o.flags(f)
	o.xxl.flags(f, "")
	f.StringVar(&o.xxl.listen, "listen", "127.0.0.1:8080", "`address` that executors call; port 0 picks a free port")
	f.StringVar(&o.credential, "credential", "", "`file` with the seed for the connection to NATS, from \"carillon credential create --bridge-groups\"; - is standard input, fd:3 an\ninherited descriptor (default: from "+keyfile.CredentialVariable+")")
	f.StringVar(&o.check, "check", "", "check whether the executor at this `address` would attach, and exit")
	f.StringVar(&o.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "log format: text or json")
	return configurable(cmd, "nats", "nats-ca", "credential", "listen", "groups", "access-token-file", "executor-allow",
		"allow-private-addresses", "no-access-token", "check")
}

func runBridge(cmd *cobra.Command, o bridgeOptions) error {
	ctx := cmd.Context()
	if o.check != "" {
		return o.xxl.checkExecutor(cmd, o.check)
	}
	tuneRuntime()
	log, err := NewLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	if _, err := o.xxl.tokens(); err != nil { // before anything is waited for
		return err
	}
	if o.Key, err = keyfile.Read(o.credential, keyfile.CredentialVariable); err != nil {
		return err
	}
	o.Name, o.Logger = "carillon bridge xxl-job", log
	if o.Key != "" {
		if len(o.xxl.groups) == 0 {
			return &job.InvalidError{Field: "groups", Reason: "must list the groups of the credential"}
		}
		o.Inbox = bus.ExecutorInbox(o.xxl.groups[0])
	}
	conn, err := jet.Await(ctx, o.Config)
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	reg := newRegistry()
	b, err := o.xxl.open(ctx, conn, reg, log.With("component", "xxl-job"))
	if err != nil {
		return err
	}
	reachable := check{"bus", func(context.Context) error {
		if !conn.NC.IsConnected() {
			return errors.New("NATS does not answer")
		}
		return nil
	}}
	watched, err := o.layers(ctx, reg, connAlive(conn), []check{reachable}, log)
	if err != nil {
		return err
	}
	return runLayers(ctx, log, append(b.layers(), watched...))
}
