package jet

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/job"
)

// Config says how to reach the bus.
type Config struct {
	// URL lists the servers of the cluster, separated by commas.
	URL string
	// Credentials is the path of a NATS credentials file. Defaults to none.
	Credentials string
	// Key is the seed of an nkey, with which a server of Carillon or an executor signs
	// in. Defaults to none.
	Key string
	// Inbox is the prefix of inboxes: an executor's credential has no other than
	// [bus.ExecutorInbox]. Defaults to that of the client library.
	Inbox string
	// CAFile, CertFile and KeyFile are PEM files for TLS. Default to the system's
	// authorities and no client certificate.
	CAFile, CertFile, KeyFile string
	// Name is shown in the server's list of connections. Defaults to "carillon".
	Name string
	// Logger hears of disconnects. Defaults to none.
	Logger *slog.Logger
	// Wait is how long a request to JetStream waits for its answer. Defaults to [BatchTimeout].
	Wait time.Duration
	// Options are applied last; tests and the embedded server use them.
	Options []nats.Option
}

// Conn is a connection to the bus. It reconnects for ever, and is safe for
// concurrent use.
type Conn struct {
	NC *nats.Conn
	JS jetstream.JetStream

	wait    time.Duration // see Config.Wait; 0 is its default
	buckets sync.Map      // those that were looked up, by name
}

// Connect returns a connection. The server must answer: a wrong address is better
// known at start than by silence. The caller closes it with NC.Close.
func Connect(cfg Config) (*Conn, error) {
	if cfg.Name == "" {
		cfg.Name = "carillon"
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	reports := &connReports{log: log.With("connection", cfg.Name), inbox: cfg.Inbox}
	opts := []nats.Option{
		nats.Name(cfg.Name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		// A silent partition is noticed after two pings without an answer.
		nats.PingInterval(2 * time.Second),
		nats.MaxPingsOutstanding(2),
		// Nothing is buffered while disconnected: a batch that sets out after a
		// reconnect, long after its caller has given up, helps nobody.
		nats.ReconnectBufSize(-1),
		// That it is refused may be because those who judge that are away.
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(reports.disconnected),
		nats.ReconnectHandler(reports.reconnected),
		nats.ErrorHandler(reports.failed),
	}
	if cfg.Credentials != "" {
		opts = append(opts, nats.UserCredentials(cfg.Credentials))
	}
	if cfg.Inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(cfg.Inbox))
	}
	if cfg.Key != "" {
		signed, key, err := signedBy(cfg.Key)
		if err != nil {
			return nil, err
		}
		opts, reports.public = append(opts, signed), key
	}
	if cfg.CAFile != "" || cfg.CertFile != "" {
		secure, err := tlsConfig(cfg)
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.Secure(secure))
	}
	nc, err := nats.Connect(cfg.URL, append(opts, cfg.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", redact(cfg.URL), Unavailable(err))
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(cmp.Or(cfg.Wait, BatchTimeout)))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to JetStream: %w", err)
	}
	return &Conn{NC: nc, JS: js, wait: cfg.Wait}, nil
}

// connReports logs what the client library says of a connection.
type connReports struct {
	log      *slog.Logger
	inbox    string
	public   string       // key of the credential
	refusals atomic.Int64 // since we were last admitted
	errors   doubling.Counter
}

func (r *connReports) disconnected(_ *nats.Conn, err error) {
	if err != nil {
		r.log.Warn("bus disconnected", "error", err)
	}
}

func (r *connReports) reconnected(nc *nats.Conn) {
	r.refusals.Store(0)
	r.log.Info("bus reconnected", "server", nc.ConnectedUrlRedacted())
}

func (r *connReports) failed(_ *nats.Conn, sub *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrAuthorization) { // at each attempt to connect, some times a second
		if n := r.refusals.Add(1); n&(n-1) == 0 {
			r.log.Warn("NATS refuses us; trying again: the credential was revoked or has expired, or no Carillon server is there to admit it", "public_key", r.public, "times", n)
		}
		return
	}
	why := bus.HideSecrets(err.Error())
	if group, is := strings.CutPrefix(r.inbox, bus.ExecutorInbox("")); is && errors.Is(err, nats.ErrPermissionViolation) {
		why += "; each credential is for one group: check that this one is for group " + group
	}
	kind := err
	if errors.Is(err, nats.ErrPermissionViolation) { // whose text has a subject, which others may choose
		kind = nats.ErrPermissionViolation
	}
	n, logged := r.errors.Add(kind.Error())
	switch {
	case !logged:
	case sub != nil:
		r.log.Warn("bus error", "subject", bus.HideSecrets(sub.Subject), "error", why, "times", n)
	default:
		r.log.Warn("bus error", "error", why, "times", n)
	}
}

// signedBy returns the option of a client that signs in with the seed of an nkey.
func signedBy(seed string) (option nats.Option, public string, err error) {
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
	if err != nil {
		return nil, "", &job.InvalidError{Field: "credential", Reason: "must be a seed, which begins with SU"}
	}
	if public, err = pair.PublicKey(); err != nil {
		return nil, "", fmt.Errorf("read key: %w", err)
	}
	return nats.Nkey(public, pair.Sign), public, nil
}

func tlsConfig(cfg Config) (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read CA file: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &job.InvalidError{Field: "ca-file", Reason: cfg.CAFile + " has no PEM certificate"}
		}
	}
	if cfg.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read client certificate: %w", err)
		}
		secure.Certificates = []tls.Certificate{cert}
	}
	return secure, nil
}

// redact removes what stands before '@' in each URL: it may be a password.
func redact(urls string) string {
	parts := strings.Split(urls, ",")
	for i, u := range parts {
		scheme, rest, found := strings.Cut(u, "://")
		if !found {
			scheme, rest = "nats", u
		}
		if _, host, has := strings.Cut(rest, "@"); has {
			rest = host
		}
		parts[i] = scheme + "://" + rest
	}
	return strings.Join(parts, ",")
}

// Bucket returns a key-value bucket. The error is job.ErrUnavailable when it cannot be reached. A
// bucket is looked up once: that asks the leader of its stream, which costs more than most reads.
func (c *Conn) Bucket(ctx context.Context, bucket string) (jetstream.KeyValue, error) {
	if kv, ok := c.buckets.Load(bucket); ok {
		return kv.(jetstream.KeyValue), nil
	}
	kv, err := c.JS.KeyValue(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, Unavailable(err))
	}
	c.buckets.Store(bucket, kv)
	return kv, nil
}
