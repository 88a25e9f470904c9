package auth

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// How long a session lasts that is used all the time, and one that nobody uses.
const (
	SessionLife = 7 * 24 * time.Hour
	sessionIdle = 12 * time.Hour
)

// seenEvery is how exact a session's SeenAt is: to write it at each request would be
// a write a request.
const seenEvery = 5 * time.Minute

// Session is a browser that is signed in. Its key is the digest of its secret.
type Session struct {
	// ID names the session. It is no secret, and of no use to sign in with.
	ID         string    `json:"id"`
	User       string    `json:"user"`
	UserID     string    `json:"user_id"`
	Generation string    `json:"generation"`
	CreatedAt  time.Time `json:"created_at"`
	SeenAt     time.Time `json:"seen_at"` // within some minutes
	ExpiresAt  time.Time `json:"expires_at"`
	Address    string    `json:"address,omitempty"`
	UserAgent  string    `json:"user_agent,omitempty"`
}

// over reports whether the session has ended at now.
func (s *Session) over(now time.Time) bool {
	return !now.Before(s.ExpiresAt) || now.Sub(s.SeenAt) >= sessionIdle
}

// Client is where a request comes from.
type Client struct{ Address, UserAgent string }

// Sessions are the sessions of users. They are safe for concurrent use.
type Sessions struct {
	table table[Session]
	users *Users
	log   *slog.Logger
}

// begin starts a session of user and returns it with its secret. It lasts for life, or
// SessionLife if that is less or life is 0.
func (ss *Sessions) begin(ctx context.Context, user *User, from Client, life time.Duration) (*Session, string, error) {
	if life == 0 || life > SessionLife {
		life = SessionLife
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	secret := newSecret()
	s := &Session{
		ID: newID(), User: user.Name, UserID: user.ID, Generation: user.Generation,
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(life), Address: from.Address, UserAgent: clip.Text(from.UserAgent, 200),
	}
	if _, err := ss.table.write(ctx, digest(secret), *s, 0); err != nil {
		return nil, "", err
	}
	return s, secret, nil
}

// touch notes that a session is in use. It need not succeed: then the next request
// tries again.
func (ss *Sessions) touch(ctx context.Context, key string, s Session, revision uint64, now time.Time) {
	if now.Sub(s.SeenAt) < seenEvery {
		return
	}
	s.SeenAt = now.UTC().Truncate(time.Millisecond)
	if _, err := ss.table.write(ctx, key, s, revision); err != nil {
		ss.log.DebugContext(ctx, "session not noted as used", "session", s.ID, "error", err)
	}
}

// OfUser returns a user's sessions, the one used last first.
func (ss *Sessions) OfUser(ctx context.Context, user string) ([]Session, error) {
	if err := ss.table.wait(ctx); err != nil {
		return nil, err
	}
	list := []Session{}
	for _, f := range ss.of(user) {
		list = append(list, f.Value)
	}
	return list, nil
}

// of returns the sessions of a user that are not over.
func (ss *Sessions) of(name string) []jet.Record[Session] {
	user, _, ok := ss.users.table.Get(userKey(name))
	now := time.Now()
	return ss.table.Find(func(s *Session) bool {
		return ok && s.User == name && s.UserID == user.ID && s.Generation == user.Generation && !s.over(now)
	})
}

// End ends one session of a user. The error is job.ErrNotFound when the user
// has none of that id.
func (ss *Sessions) End(ctx context.Context, user, id string) error {
	if err := ss.table.wait(ctx); err != nil {
		return err
	}
	for _, f := range ss.of(user) {
		if f.Value.ID == id {
			return ss.table.remove(ctx, f.Key, 0)
		}
	}
	return fmt.Errorf("%w: session %s of user %s", job.ErrNotFound, clip.Text(id, 64), user)
}

// find returns the session of that key and its user, if it is good for anything at now.
func (ss *Sessions) find(key string, now time.Time) (session Session, revision uint64, user *User, ok bool) {
	session, revision, ok = ss.table.Get(key)
	if !ok || session.over(now) {
		return session, revision, nil, false
	}
	user, ok = ss.users.owner(session.User, session.UserID)
	return session, revision, user, ok && session.Generation == user.Generation
}
