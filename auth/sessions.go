package auth

import (
	"context"
	"fmt"
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

// begin starts a session of user and returns it with its secret. It lasts for life, or
// SessionLife if that is less or life is 0.
func (d *Directory) begin(ctx context.Context, user *User, from Client, life time.Duration) (*Session, string, error) {
	if life == 0 || life > SessionLife {
		life = SessionLife
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	secret := newSecret()
	s := &Session{
		ID: newID(), User: user.Name, UserID: user.ID, Generation: user.Generation,
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(life), Address: from.Address, UserAgent: clip.Text(from.UserAgent, 200),
	}
	revision, err := d.records.sessions.Write(ctx, digest(secret), *s, 0)
	if err != nil {
		return nil, "", err
	}
	d.sessions.Put(digest(secret), *s, revision)
	return s, secret, nil
}

// touch notes that a session is in use. It need not succeed: then the next request
// tries again.
func (d *Directory) touch(ctx context.Context, key string, s Session, revision uint64, now time.Time) {
	if now.Sub(s.SeenAt) < seenEvery {
		return
	}
	s.SeenAt = now.UTC().Truncate(time.Millisecond)
	next, err := d.records.sessions.Write(ctx, key, s, revision)
	if err != nil {
		d.log.DebugContext(ctx, "session not noted as used", "session", s.ID, "error", err)
		return
	}
	d.sessions.Put(key, s, next)
}

// Sessions returns a user's sessions, the one used last first.
func (d *Directory) Sessions(ctx context.Context, user string) ([]Session, error) {
	if err := loaded(ctx, d.sessions); err != nil {
		return nil, err
	}
	list := []Session{}
	for _, f := range d.sessionsOf(user) {
		list = append(list, f.Value)
	}
	return list, nil
}

// sessionsOf returns the sessions of a user that are not over.
func (d *Directory) sessionsOf(name string) []jet.Record[Session] {
	user, _, ok := d.users.Get(userKey(name))
	now := time.Now()
	return d.sessions.Find(func(s *Session) bool {
		return ok && s.User == name && s.UserID == user.ID && s.Generation == user.Generation && !s.over(now)
	})
}

// EndSession ends one session of a user. The error is job.ErrNotFound when the user
// has none of that id.
func (d *Directory) EndSession(ctx context.Context, user, id string) error {
	if err := loaded(ctx, d.sessions); err != nil {
		return err
	}
	for _, f := range d.sessionsOf(user) {
		if f.Value.ID == id {
			if err := d.records.sessions.Remove(ctx, f.Key, 0); err != nil {
				return err
			}
			d.sessions.Delete(f.Key)
			return nil
		}
	}
	return fmt.Errorf("%w: session %s of user %s", job.ErrNotFound, clip.Text(id, 64), user)
}
