package standin

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

// shadow is a store with what the streams have.
type shadow struct {
	store logstore.Store
	from  []string // the streams that it is made of
	since time.Time
	began time.Time
	log   *slog.Logger
	stop  context.CancelFunc
	done  chan struct{} // is closed when it is filled no more

	mu   sync.Mutex           // guards upTo
	upTo map[string]time.Time // by stream, the instant up to which it has what was said
}

// newShadow opens a store, and begins to fill it.
func newShadow(ctx context.Context, conn *cluster.Conn, cfg Config, since time.Time) (*shadow, error) {
	store, err := cfg.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a stand-in: %w", err)
	}
	// It ends with close, so that who asks it has it until then.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	from := slices.Concat(conn.Trigs(), conn.Evts(), []string{bus.StreamLog})
	s := &shadow{store: store, from: from, since: since, began: time.Now(), log: cfg.Logger, stop: stop, done: make(chan struct{}), upTo: map[string]time.Time{}}
	go func() {
		defer close(s.done)
		if err := ingest.Follow(ctx, conn, store, since, cfg.Logger, s.note); err != nil {
			s.log.WarnContext(ctx, "stand-in for the log store given up", "error", err)
		}
	}()
	return s, nil
}

func (s *shadow) note(stream string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upTo[stream] = at
}

// partial returns what it has.
func (s *shadow) partial() runlog.Partial {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := runlog.Partial{Since: s.since, AsOf: time.Now()}
	for _, stream := range s.from {
		p.AsOf = earliest(p.AsOf, s.upTo[stream])
	}
	p.AsOf = p.AsOf.UTC().Truncate(time.Millisecond)
	return p
}

// isFilled reports whether it has all that there was when it began.
func (s *shadow) isFilled() bool { return !s.partial().AsOf.Before(s.began.Truncate(time.Millisecond)) }

func (s *shadow) failed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *shadow) close() {
	s.stop()
	<-s.done
	if err := s.store.Close(); err != nil {
		s.log.Warn("stand-in for the log store not removed", "error", err)
	}
}
