package alert

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
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
func (a *Alerter) hold(ctx context.Context, held *jet.Held) error {
	a.metrics.active.Set(1)
	defer a.metrics.active.Set(0)
	s := &session{Alerter: a, held: held, records: recordsOn(a.conn.Conn), mirror: newMirror(), tallies: map[string]*tally{}, begun: map[job.RunID]time.Time{}, lonely: map[string]time.Time{}, unread: map[string]uint64{}, discrepancies: noDiscrepancies()}
	g, working := errgroup.WithContext(ctx)
	g.Go(func() error { s.mirror.follow(working, a.conn.Conn, a.log); return nil })
	g.Go(func() error { return s.watch(working) })
	g.Go(func() error { return s.post(working) })
	g.Go(func() error { return s.heartbeat(working) })
	return g.Wait()
}

// session is the work of an alerter from when it gets the lease until it loses it.
type session struct {
	*Alerter
	held    *jet.Held
	records records
	mirror  *mirror

	// What follows belongs to the goroutine of watch.
	place    position
	placed   uint64 // revision of the position
	moved    bool   // the position is not the one that is stored
	tallies  map[string]*tally
	begun    map[job.RunID]time.Time // runs that have begun, and may still be looked at
	lonely   map[string]time.Time    // executor groups without instance, and since when
	unread   map[string]uint64       // the ends of streams of events at the last look, if nobody reads them
	lastSeen time.Time               // when what may be late was looked at last, before this session

	discrepancies discrepancies
}

// position is how far an alerter has come. What the rules make of the messages up to it is
// stored.
type position struct {
	cluster.AlertPosition
	Looked time.Time `json:"looked_at"`      // for runs that are late
	Dead   uint64    `json:"dead,omitempty"` // sequence of DEAD
}

// valid returns an error when the lease is not to be believed in any more.
func (s *session) valid() error {
	if !s.held.Valid(time.Now()) {
		return fmt.Errorf("%w: the alert lease was not renewed in time", job.ErrStale)
	}
	return nil
}

// update changes the incident at a key, as it is stored by now: change gets a copy, nil
// when there is none, and returns what to store, nil for nothing.
func (s *session) update(ctx context.Context, key string, change func(*alerting.Incident) *alerting.Incident) error {
	records, at := s.records.ofIncident(key)
	var stored *alerting.Incident
	revision, err := records.Edit(ctx, at, func(value *alerting.Incident, revision uint64) (bool, error) {
		var inc *alerting.Incident
		if revision != 0 {
			was := *value
			inc = &was
		}
		if stored = change(inc); stored == nil {
			return false, nil
		}
		if err := s.valid(); err != nil {
			return false, err
		}
		if inc != nil && inc.ID != stored.ID { // the one before it is kept under its own name
			if _, err := s.records.past.Write(ctx, inc.ID, *inc, 0); err != nil && !errors.Is(err, job.ErrConflict) {
				return false, err
			}
		}
		*value = *stored
		return true, nil
	})
	if err == nil && stored != nil {
		mirror, at := s.mirror.ofIncident(key)
		mirror.Put(at, *stored, revision)
	}
	return err
}
