package alert

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
)

// leaseKey is the role that one alerter of a cluster has.
const leaseKey = "role.alert"

// Config says how to alert. The zero value works.
type Config struct {
	// Node names this process in the lease and in deliveries. Defaults to "alert".
	Node string
	// MasterKey opens the secrets of channels. Defaults to none: channels that have some
	// cannot be used.
	MasterKey string
	// PublicURL is where people reach the console, for links. Defaults to none: messages
	// have no link.
	PublicURL string
	// Allow lists what channels may call though it is not public: hosts, addresses and
	// networks, the first two with or without a port. Defaults to none.
	Allow []string
	// HeartbeatURL is called every minute while all shards have a node, so that a monitor elsewhere alerts
	// people when the calls stop. Defaults to none.
	HeartbeatURL string
	// Roots are the authorities that mail servers are checked against. Defaults to the
	// system's.
	Roots *x509.CertPool
	// Transport sends the requests of channels. Defaults to one that calls public addresses
	// and those of Allow.
	Transport http.RoundTripper
	// Logger hears of taking over, and of deliveries that fail. Defaults to none.
	Logger *slog.Logger
	// Metrics takes the collectors. Defaults to a registry that nobody reads.
	Metrics prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.Node == "" {
		c.Node = "alert"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	return c
}

// Alerter watches runs, and tells people.
type Alerter struct {
	conn    *cluster.Conn
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	out     *sender
}

// New returns an alerter that has not begun. conn's Setup or Open must have returned. The
// error is an *InvalidError when cfg is wrong.
func New(conn *cluster.Conn, cfg Config) (*Alerter, error) {
	cfg = cfg.withDefaults()
	guard, err := outbound.NewGuard(cfg.Allow, func(addr netip.Addr) string {
		return fmt.Sprintf("start the server with --alert-allow %s if it should be", addr)
	})
	if err != nil {
		return nil, &job.InvalidError{Field: "alert_allow", Reason: err.Error()}
	}
	if cfg.HeartbeatURL != "" {
		if err := checkHeartbeat(cfg.HeartbeatURL); err != nil {
			return nil, err
		}
	}
	if cfg.Transport == nil {
		cfg.Transport = guard.Transport()
	}
	out := &sender{guard: guard, link: cfg.PublicURL, roots: cfg.Roots, client: &http.Client{
		Transport:     cfg.Transport,
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if cfg.MasterKey != "" {
		master, err := seal.ParseMaster(cfg.MasterKey)
		if err != nil {
			return nil, &job.InvalidError{Field: "master_key", Reason: "is " + err.Error()}
		}
		out.key = keyOf(master)
	}
	m, err := newMetrics(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	return &Alerter{conn: conn, cfg: cfg, log: doubling.Logger(cfg.Logger), metrics: m, out: out}, nil
}

// Run alerts whenever it holds the lease, until ctx is done. It returns nil after an
// orderly stop; no trouble of the bus ends it.
func (a *Alerter) Run(ctx context.Context) error {
	a.conn.Lead(ctx, leaseKey, a.cfg.Node, a.cfg.Logger, a.hold)
	return nil
}

// hold alerts for as long as the lease lasts, or until something fails: then whoever gets
// the lease next begins from what is stored.
func (a *Alerter) hold(ctx context.Context, lease *jet.Lease) error {
	a.metrics.active.Set(1)
	defer a.metrics.active.Set(0)
	all := &incidents{a, lease, recordsOn(a.conn.Conn), newMirror()}
	s := &session{incidents: all, tallies: map[string]*tally{}, begun: map[job.RunID]time.Time{}, lonely: map[string]time.Time{}, unread: map[string]uint64{}, heard: heardJobs{known: map[job.Name]bool{}}, discrepancies: noDiscrepancies()}
	g, working := errgroup.WithContext(ctx)
	g.Go(func() error { all.mirror.follow(working, a.conn.Conn, a.log); return nil })
	g.Go(func() error { return s.watch(working) })
	g.Go(func() error { return (&poster{all}).run(working) })
	g.Go(func() error { return a.heartbeat(working) })
	return g.Wait()
}

// session checks the rules from when an alerter gets the lease until it loses it. It belongs to the
// goroutine of watch.
type session struct {
	*incidents

	position position
	revision uint64 // of the stored position
	moved    bool   // the position is not the one that is stored
	tallies  map[string]*tally
	begun    map[job.RunID]time.Time // runs that have begun, and may still be checked
	ends     recentEnds
	lonely   map[string]time.Time // executor groups without instance, and since when
	unread   map[string]uint64    // the ends of streams of events at the last check, if nobody reads them
	heard    heardJobs
	lateFrom time.Time // when late runs were checked last, before this session

	discrepancies discrepancies
}

// position is how far an alerter has come. What the rules make of the messages up to it is
// stored.
type position struct {
	cluster.AlertPosition
	// LateChecked is when late runs were checked last.
	LateChecked time.Time `json:"late_checked_at"`
	Dead        uint64    `json:"dead,omitempty"` // sequence of DEAD
}
