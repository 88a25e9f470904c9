package auth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// hashesAtOnce bounds how many passwords are hashed at a time.
const hashesAtOnce = 4

// Directory knows users, tokens, sessions and the credentials of executors. It is safe for concurrent use. Reads are
// from memory once Run has loaded it; before, they wait, and return
// job.ErrUnavailable when their context is done first. Writes go to the bus, and are
// seen by every read that begins after they returned.
type Directory struct {
	conn   *cluster.Conn
	log    *slog.Logger
	hasher hasher

	records records

	users       *jet.Mirror[User]
	tokens      *jet.Mirror[Token]
	credentials *jet.Mirror[Credential]
	sessions    *jet.Mirror[Session]

	rights  broadcast     // of changes of what sessions and tokens are good for
	changed chan struct{} // has a value when credentials have changed since it was taken out
}

// NewDirectory returns a directory that is empty until Run has loaded it. log may be
// nil.
func NewDirectory(conn *cluster.Conn, log *slog.Logger) *Directory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Directory{conn: conn, log: log, hasher: newHasher(hashesAtOnce), records: recordsOn(conn.Conn), changed: make(chan struct{}, 1)}
	d.users = kindUser.Mirror(func(*User) { d.rights.tell() })
	d.tokens = kindToken.Mirror(func(*Token) { d.rights.tell() })
	d.sessions = kindSession.Mirror(func(s *Session) {
		if s == nil { // of one that goes on, only its use is noted
			d.rights.tell()
		}
	})
	d.credentials = kindCredential.Mirror(func(*Credential) {
		select {
		case d.changed <- struct{}{}:
		default: // it has one already
		}
	})
	return d
}

// Changed returns a channel that is closed when a user or token is changed or a session is
// ended, here or at another server. Whoever asks [Directory.Refresh] after Changed misses
// nothing.
func (d *Directory) Changed() <-chan struct{} { return d.rights.next() }

// broadcast tells all who wait for the next of some events. Its zero value works.
type broadcast struct {
	mu     sync.Mutex
	waited chan struct{} // nil while nobody waits
}

func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waited == nil {
		b.waited = make(chan struct{})
	}
	return b.waited
}

func (b *broadcast) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waited != nil {
		close(b.waited)
		b.waited = nil
	}
}

// Run keeps the directory up to date until ctx is done; then it returns nil.
func (d *Directory) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { jet.FollowMirrors(ctx, d.conn.Conn, d.log, d.users, d.tokens, d.credentials); return nil })
	g.Go(func() error { jet.FollowMirrors(ctx, d.conn.Conn, d.log, d.sessions); return nil })
	g.Go(func() error { d.tidy(ctx); return nil })
	return g.Wait()
}

// tidyEvery is how often what is over is dropped from memory. The bucket drops it by
// itself.
const tidyEvery = time.Hour

func (d *Directory) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.sessions.Forget(func(s *Session) bool { return s.over(now) })
			d.users.Forget(func(*User) bool { return false })
			d.tokens.Forget(func(*Token) bool { return false })
			d.credentials.Forget(func(*Credential) bool { return false })
		}
	}
}
