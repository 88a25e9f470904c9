package auth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
)

// hashesAtOnce bounds how many passwords are hashed at a time.
const hashesAtOnce = 4

// Directory knows users, tokens, sessions, the ping tokens of jobs and the credentials of executors, and who somebody is that
// signs in or makes a request. It is safe for concurrent use. Reads are from memory once Run has loaded it;
// before, they wait, and return job.ErrUnavailable when their context is done first. Writes go to the bus,
// and are seen by every read that begins after they returned.
type Directory struct {
	conn *cluster.Conn
	log  *slog.Logger

	users       *Users
	tokens      *Tokens
	pingTokens  *PingTokens
	credentials *Credentials
	sessions    *Sessions
	links       jet.Records[administratorLinks]
	attempts    attempts

	rights broadcast // of changes of what sessions and tokens are good for
}

// NewDirectory returns a directory that is empty until Run has loaded it. log may be
// nil.
func NewDirectory(conn *cluster.Conn, log *slog.Logger) *Directory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Directory{conn: conn, log: log, links: kindLinks.On(conn.Conn), attempts: attempts{kindFailures.On(conn.Conn)}}
	d.users = &Users{invitations: kindInvitation.On(conn.Conn), hasher: newHasher(hashesAtOnce), log: log}
	d.users.table = tableOf(&kindUser, conn.Conn, func(*User) { d.rights.tell() })
	d.tokens = &Tokens{users: d.users, table: tableOf(&kindToken, conn.Conn, func(*Token) { d.rights.tell() })}
	d.users.tokens = d.tokens
	d.pingTokens = &PingTokens{table: tableOf(&kindPingToken, conn.Conn, nil)}
	d.sessions = &Sessions{users: d.users, log: log, table: tableOf(&kindSession, conn.Conn, func(s *Session) {
		if s == nil { // of one that goes on, only its use is noted
			d.rights.tell()
		}
	})}
	d.credentials = newCredentials(conn.Conn)
	return d
}

// Users returns those who may sign in.
func (d *Directory) Users() *Users { return d.users }

// Tokens returns the API tokens of users.
func (d *Directory) Tokens() *Tokens { return d.tokens }

// PingTokens returns the ping tokens of jobs.
func (d *Directory) PingTokens() *PingTokens { return d.pingTokens }

// Sessions returns the sessions of users.
func (d *Directory) Sessions() *Sessions { return d.sessions }

// Credentials returns the credentials of executors and bridges.
func (d *Directory) Credentials() *Credentials { return d.credentials }

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
	g.Go(func() error {
		jet.FollowMirrors(ctx, d.conn.Conn, d.log, d.users.table, d.tokens.table, d.pingTokens.table, d.credentials.table)
		return nil
	})
	g.Go(func() error { jet.FollowMirrors(ctx, d.conn.Conn, d.log, d.sessions.table); return nil })
	g.Go(func() error { d.tidy(ctx); return nil })
	return g.Wait()
}

// tidyEvery is how often the mirrors drop ended sessions, and what was deleted, from memory. The
// bucket drops them by itself.
const tidyEvery = time.Hour

func (d *Directory) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.sessions.table.Forget(func(s *Session) bool { return s.over(now) })
			d.users.table.Forget(func(*User) bool { return false }) // deletions only
			d.tokens.table.Forget(func(*Token) bool { return false })
			d.pingTokens.table.Forget(func(*PingToken) bool { return false })
			d.credentials.table.Forget(func(*Credential) bool { return false })
		}
	}
}
