package standin

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// pollEvery is how often the history is asked whether it is there, and pollTimeout how
	// long it has to answer.
	pollEvery   = time.Second
	pollTimeout = 2 * time.Second
	// compareEvery is how often it is found out how far behind it is.
	compareEvery = 5 * time.Second
	// silentFor is for how long it must not have answered: servers are started again, and
	// to read an hour of history costs the bus and this program more than to wait for that.
	silentFor = 15 * time.Second
	// before is how much of what the history has the stand-in has too, so that people see
	// what went on before; mostBefore is how far back it begins at most.
	before     = time.Hour
	mostBefore = 24 * time.Hour
	// catchUpTime is how long a history that is back may take until it is asked though it
	// is behind: it may stay so.
	catchUpTime = 15 * time.Minute
)

// Config says what a Store needs. The zero value of what is optional works.
type Config struct {
	// Open returns an empty store for a stand-in. Its Close removes what it has kept.
	Open func(context.Context) (logstore.Store, error)
	// Logger hears when the history goes away and comes back. Defaults to none.
	Logger *slog.Logger
}

// Store is a log store for which another one stands in while it is away. It is safe for
// concurrent use.
type Store struct {
	logstore.Store // the history

	conn *cluster.Conn
	cfg  Config

	mu sync.RWMutex // is held for reading by whoever asks the stand-in
	in *shadow      // nil while there is none, or it is not filled yet

	stateMu sync.Mutex // guards behind
	behind  time.Time  // what came since then the history may lack; zero if it lacks nothing
}

var (
	_ logstore.Store = (*Store)(nil)
	_ logstore.Asked = (*Store)(nil)
)

// New returns a store that has no stand-in before Watch.
func New(conn *cluster.Conn, history logstore.Store, cfg Config) *Store {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{Store: history, conn: conn, cfg: cfg}
}

// Ask implements [logstore.Asked]: the history is asked.
func (s *Store) Ask(ctx context.Context, statement string, audit bool) (logstore.Answer, error) {
	asked, ok := s.Store.(logstore.Asked)
	if !ok {
		return nil, fmt.Errorf("%w: the log store takes no SQL", job.ErrConflict)
	}
	return asked.Ask(ctx, statement, audit)
}

// StandIn returns what the stand-in has, or nil while the history is asked.
func (s *Store) StandIn() *runlog.Partial {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.in == nil {
		return nil
	}
	p := s.in.partial()
	return &p
}

// Watch watches over the history until ctx is done, and then returns nil.
func (s *Store) Watch(ctx context.Context) error {
	w := &watch{Store: s}
	defer w.dismiss()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		w.poll(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// watch is what Watch knows.
type watch struct {
	*Store
	silentSince time.Time // the history has not answered since; zero while it answers
	backSince   time.Time // the history answers since, and a stand-in does too
	filling     *shadow   // the stand-in, in use or being filled; nil without one
	compared    time.Time // it was found out then how far behind the history is
}

// poll asks the history once.
func (w *watch) poll(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	_, err := w.Stats(asking)
	now := time.Now()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if w.backSince = (time.Time{}); w.silentSince.IsZero() {
			w.silentSince = now
		}
		if w.filling == nil && now.Sub(w.silentSince) >= silentFor {
			w.summon(ctx, err)
		}
		w.use()
	default:
		w.silentSince = time.Time{}
		w.answers(ctx, now)
	}
}

// answers takes in that the history is there.
func (w *watch) answers(ctx context.Context, now time.Time) {
	if now.Sub(w.compared) < compareEvery {
		return
	}
	w.compared = now
	oldest, err := w.oldestWaiting(ctx)
	if err != nil {
		return // nobody knows; and as the bus is away, there is no more than the history has
	}
	if now.Sub(oldest) < fleet.IngestBehind {
		oldest = time.Time{}
	}
	w.stateMu.Lock()
	w.behind = oldest
	w.stateMu.Unlock()
	if w.filling == nil {
		return
	}
	if w.backSince.IsZero() {
		w.backSince = now
	}
	if oldest.IsZero() || now.Sub(w.backSince) >= catchUpTime {
		w.cfg.Logger.InfoContext(ctx, "log store is back; it answers again")
		w.dismiss()
	}
}

// oldestWaiting returns since when something about runs waits to be moved into the history:
// now, if nothing does.
func (w *watch) oldestWaiting(ctx context.Context) (time.Time, error) {
	backlogs, err := w.conn.Ingest().Backlogs(ctx)
	oldest := time.Now().UTC()
	for _, b := range backlogs {
		if !b.Since.IsZero() && b.Since.Before(oldest) {
			oldest = b.Since
		}
	}
	return oldest, err
}

// summon begins to fill a stand-in.
func (w *watch) summon(ctx context.Context, why error) {
	now := time.Now().UTC()
	since, err := w.oldestWaiting(ctx)
	if err != nil {
		w.cfg.Logger.DebugContext(ctx, "no stand-in for the log store", "error", err)
		return
	}
	since = latest(earliest(since, now.Add(-before)), now.Add(-mostBefore))
	in, err := newShadow(ctx, w.conn, w.cfg, since.Truncate(time.Millisecond))
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "no stand-in for the log store", "error", err)
		return
	}
	w.cfg.Logger.WarnContext(ctx, "log store is away; what the streams have answers for it", "since", since, "error", why)
	w.filling, w.backSince = in, time.Time{}
}

// use has the stand-in answer once it is filled, and makes another where it has failed.
func (w *watch) use() {
	switch {
	case w.filling == nil:
	case w.filling.failed():
		w.dismiss()
	case w.filling.isFilled():
		w.mu.Lock()
		w.in = w.filling
		w.mu.Unlock()
	}
}

// dismiss throws the stand-in away, once nobody asks it any more.
func (w *watch) dismiss() {
	if w.filling == nil {
		return
	}
	w.mu.Lock()
	w.in = nil
	w.mu.Unlock()
	w.filling.close()
	w.filling = nil
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
