package webapi

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/auth/oidc"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// GroupJobs bounds how many jobs an executor group may have, and how large they may be together.
type GroupJobs = catalog.Limits

// DefaultGroupJobs is what an executor group may have unless configured otherwise.
var DefaultGroupJobs = catalog.DefaultLimits

// Config says where to serve, and how.
type Config struct {
	// Addr is the address to listen on: a loopback one, unless TLS or BehindProxy is
	// set. Port 0 is any that is free. Defaults to "127.0.0.1:8080".
	Addr string
	// Listener is used instead of Addr when it is set; Run closes it. The same holds
	// for its address. Defaults to none.
	Listener net.Listener
	// TLS has the server speak TLS. Defaults to none.
	TLS *tls.Config
	// BehindProxy says that clients reach the server through a proxy only, which
	// speaks TLS with them and appends their address to X-Forwarded-For. Defaults to
	// false.
	BehindProxy bool
	// PublicURL is where people reach the server, for links. Defaults to the address
	// that it listens on.
	PublicURL string
	// Hosts are names by which clients may call the server besides localhost and
	// loopback addresses, without port. Defaults to none with plain HTTP on loopback,
	// else to any.
	Hosts []string
	// Local takes everybody on this machine for an administrator. It needs a loopback
	// address, and no proxy. Defaults to false.
	Local bool
	// LocalUser is the name of whoever uses a Local server and sends none. Defaults to local.
	LocalUser string
	// MaxStreams bounds the live streams open at a time. Defaults to 1024.
	MaxStreams int
	// MaxUserStreams bounds those of one user, whatever sessions and tokens they have.
	// Defaults to 32.
	MaxUserStreams int
	// GroupJobs bounds the jobs of an executor group. Defaults to [DefaultGroupJobs].
	GroupJobs GroupJobs
	// HeadTimeout is how long a client may take to send the head of a request, the TLS
	// handshake of a new connection included. Defaults to 10 s.
	HeadTimeout time.Duration
	// Grace is how long Run waits, once it is to stop, for streams to say goodbye and
	// requests to end. Defaults to 3 s.
	Grace time.Duration
	// NoAssistants turns POST /mcp off. Defaults to false.
	NoAssistants bool
	// Version is what GET /version tells. Defaults to "dev".
	Version string
	// MasterKey seals secrets, as "carillon secret keygen" prints it. Defaults to none:
	// secrets cannot be set.
	MasterKey string
	// Executors says that NATS asks this cluster who may connect as an executor, as
	// package auth/callout answers. Defaults to false: no credentials are made.
	Executors bool
	// Provider signs people in too. Defaults to none: all have a password.
	Provider *oidc.Provider
	// Settings are those of the process by their names, for POST /diagnostics. They must have
	// no secrets. Defaults to none.
	Settings map[string]string
	// Profiles says that POST /diagnostics may tell the stacks of goroutines. Defaults to
	// false.
	Profiles bool
	// Registerer takes the package's metrics, and Gatherer gives those that GET
	// /metrics shows. Default to a registry of the server's own.
	Registerer prometheus.Registerer
	Gatherer   prometheus.Gatherer
	// Logger hears of requests at Debug and of our own faults at Error. Defaults to
	// none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:8080"
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = 1024
	}
	if c.MaxUserStreams == 0 {
		c.MaxUserStreams = 32
	}
	if c.HeadTimeout == 0 {
		c.HeadTimeout = 10 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 3 * time.Second
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Registerer == nil || c.Gatherer == nil {
		own := prometheus.NewRegistry()
		c.Registerer, c.Gatherer = own, own
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if c.MaxStreams < 0 {
		return job.Invalid("max_streams", "must not be negative")
	}
	if c.MaxUserStreams < 0 {
		return job.Invalid("max_user_streams", "must not be negative")
	}
	if c.GroupJobs.Jobs < 0 || c.GroupJobs.Bytes < 0 {
		return job.Invalid("group_jobs", "must not be negative")
	}
	if c.HeadTimeout < 0 {
		return job.Invalid("head_timeout", "must not be negative")
	}
	if c.Grace < 0 {
		return job.Invalid("grace", "must not be negative")
	}
	if c.Local && (c.TLS != nil || c.BehindProxy) {
		return job.Invalid("local", "cannot hold together with TLS or behind a proxy: those are for others than this machine")
	}
	if c.PublicURL != "" {
		if u, err := url.Parse(c.PublicURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return job.Invalid("public_url", "%q must be an address such as https://carillon.example.org", c.PublicURL)
		}
	}
	if c.Listener != nil {
		if tcp, ok := c.Listener.Addr().(*net.TCPAddr); ok {
			return c.CheckAddr(tcp.String())
		}
		return nil
	}
	return c.CheckAddr(c.Addr)
}

// CheckAddr returns an *InvalidError for field "http" unless c may be served at addr.
func (c Config) CheckAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return job.Invalid("http", "%q must be HOST:PORT, such as 127.0.0.1:8080", addr)
	case guard.IsLoopback(host) || c.TLS != nil || c.BehindProxy:
		return nil
	case c.Local:
		return job.Invalid("http", "%q must be a loopback address: everybody who asks counts as an administrator", addr)
	}
	return job.Invalid("http", "%q is not a loopback address, and passwords must not cross a network in the clear: "+
		"give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks TLS for it", addr)
}
