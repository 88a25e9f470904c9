package auth

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Identity is who makes a request. It holds for that request.
type Identity struct {
	User        string
	DisplayName string
	How         rights.How
	// Access is what it may do: the user's, for a token within the token's.
	Access rights.List
	// Only is the further limit of its token; empty is none.
	Only rights.Only
	// Session and Token name what proved it; the other is empty.
	Session, Token string
	// Password says that the user has a password, and so can change it.
	Password bool
	// External says that a provider signs the user in.
	External bool
}

// ErrUnauthenticated means that nobody is signed in: there is no valid session or
// token with the request, or a user name or password is wrong.
var ErrUnauthenticated = errors.New("unauthenticated")

// Local returns the identity of the user of a `carillon dev`. It has all grants, as that user can do anything there.
func Local(user string) *Identity {
	if user == "" {
		user = "local"
	}
	return &Identity{User: user, How: rights.ByLocal, Access: rights.List{{Role: rights.Admin, Group: rights.Everywhere, Grants: rights.Grants}}}
}

// BySecret returns the identity that an API token proves. Errors: [ErrUnauthenticated],
// job.ErrUnavailable.
func (d *Directory) BySecret(ctx context.Context, secret string) (*Identity, error) {
	if err := errors.Join(d.tokens.table.wait(ctx), d.users.table.wait(ctx)); err != nil {
		return nil, err
	}
	token, ok := d.tokens.bySecret(secret)
	if !ok {
		return nil, ErrUnauthenticated
	}
	return d.byToken(&token)
}

func (d *Directory) byToken(token *Token) (*Identity, error) {
	if !time.Now().Before(token.ExpiresAt) {
		return nil, ErrUnauthenticated
	}
	user, ok := d.users.owner(token.User, token.UserID)
	if !ok || user.rests(time.Now()) {
		return nil, ErrUnauthenticated
	}
	return &Identity{
		User: user.Name, DisplayName: user.DisplayName, How: rights.ByToken, Token: token.ID,
		Access: user.Access.Within(token.Access), Only: token.Only, Password: user.Password != "", External: user.External != "",
	}, nil
}

// ByCookie returns the identity that a session's secret proves. Errors as BySecret.
func (d *Directory) ByCookie(ctx context.Context, secret string) (*Identity, error) {
	if err := errors.Join(d.sessions.table.wait(ctx), d.users.table.wait(ctx)); err != nil {
		return nil, err
	}
	key, now := digest(secret), time.Now()
	session, revision, user, ok := d.sessions.find(key, now)
	if !ok {
		return nil, ErrUnauthenticated
	}
	d.sessions.touch(ctx, key, session, revision, now)
	return &Identity{
		User: user.Name, DisplayName: user.DisplayName, How: rights.BySession, Session: session.ID,
		Access: user.Access, Password: user.Password != "", External: user.External != "",
	}, nil
}

// KnowsToken reports whether an API token is valid. Unlike BySecret it waits for nothing: as
// long as users are not loaded, any may be.
func (d *Directory) KnowsToken(secret string) bool {
	if !d.tokens.table.loaded() || !d.users.table.loaded() {
		return true
	}
	token, ok := d.tokens.bySecret(secret)
	if !ok {
		return false
	}
	_, err := d.byToken(&token)
	return err == nil
}

// KnowsSession is KnowsToken, of a session's secret. It is no use of the session.
func (d *Directory) KnowsSession(secret string) bool {
	if !d.sessions.table.loaded() || !d.users.table.loaded() {
		return true
	}
	_, _, _, ok := d.sessions.find(digest(secret), time.Now())
	return ok
}

// Refresh returns what an identity is worth by now, for a request that goes on for
// long. Errors as BySecret.
func (d *Directory) Refresh(ctx context.Context, who *Identity) (*Identity, error) {
	switch who.How {
	case rights.ByToken:
		token, err := d.tokens.Get(ctx, who.Token)
		if errors.Is(err, job.ErrNotFound) {
			return nil, ErrUnauthenticated
		}
		if err != nil {
			return nil, err
		}
		return d.byToken(token)
	case rights.BySession:
		for _, f := range d.sessions.of(who.User) {
			if user, ok := d.users.owner(f.Value.User, f.Value.UserID); ok && f.Value.ID == who.Session {
				now := *who
				now.Access = user.Access
				return &now, nil
			}
		}
		return nil, ErrUnauthenticated
	case rights.ByLocal:
	}
	return who, nil
}
