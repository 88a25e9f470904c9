package auth

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
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

	users       *mirror[User]
	tokens      *mirror[Token]
	credentials *mirror[Credential]
	sessions    *mirror[Session]

	rights broadcast // of changes of what sessions and tokens are good for
}

// NewDirectory returns a directory that is empty until Run has loaded it. log may be
// nil.
func NewDirectory(conn *cluster.Conn, log *slog.Logger) *Directory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Directory{
		conn: conn, log: log, hasher: newHasher(hashesAtOnce),
		users:       newMirror[User](kindUser),
		tokens:      newMirror[Token](kindToken),
		credentials: newMirror[Credential](kindCredential),
		sessions:    newMirror[Session](kindSession),
	}
	d.users.heard = func(*User) { d.rights.tell() }
	d.tokens.heard = func(*Token) { d.rights.tell() }
	d.sessions.heard = func(s *Session) {
		if s == nil { // of one that goes on, only its use is noted
			d.rights.tell()
		}
	}
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
	g.Go(func() error { d.keepUp(ctx, bus.BucketAccess, d.users, d.tokens, d.credentials); return nil })
	g.Go(func() error { d.keepUp(ctx, bus.BucketSession, d.sessions); return nil })
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
			d.sessions.forget(func(s *Session) bool { return s.over(now) })
			d.users.forget(func(*User) bool { return false })
			d.tokens.forget(func(*Token) bool { return false })
			d.credentials.forget(func(*Credential) bool { return false })
		}
	}
}

// mirrors is what keepUp needs of a mirror.
type mirrors interface {
	take(e jetstream.KeyValueEntry) error
	finish()
}

// rewatch is how long to wait before watching again after a watch broke.
const rewatch = time.Second

func (d *Directory) keepUp(ctx context.Context, bucket string, into ...mirrors) {
	retry := time.NewTicker(rewatch)
	defer retry.Stop()
	for {
		err := d.follow(ctx, bucket, into)
		if ctx.Err() != nil {
			return
		}
		d.log.WarnContext(ctx, "directory interrupted", "bucket", bucket, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
	}
}

// follow takes in what one watch tells. The watch itself outlives reconnects.
func (d *Directory) follow(ctx context.Context, bucket string, into []mirrors) error {
	w, err := d.conn.WatchAccess(ctx, bucket)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("%w: the watch on %s ended", job.ErrUnavailable, bucket)
			}
			for _, m := range into {
				if e == nil {
					m.finish()
				} else if err := m.take(e); err != nil {
					d.log.WarnContext(ctx, "record cannot be read", "key", e.Key(), "error", err)
				}
			}
		}
	}
}
