package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// invitationLife is how long a one-time link works.
const invitationLife = 24 * time.Hour

// Invitation allows the holder of its secret to choose a user's password, once. Its key
// is the digest of the secret.
type Invitation struct {
	// User is whose password it is; empty for the first administrator, who chooses a
	// name too.
	User      string    `json:"user,omitempty"`
	UserID    string    `json:"user_id,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ErrInvitation means that an invitation is unknown, used, expired or void.
var ErrInvitation = errors.New("the link has been used, has expired, or is not whole; ask for a new one")

// HasAdministrator reports whether somebody can sign in who may do everything.
func (d *Directory) HasAdministrator(ctx context.Context) (bool, error) {
	if err := d.users.wait(ctx); err != nil {
		return false, err
	}
	return len(d.users.all((*User).isAdministrator)) > 0, nil
}

// InviteAdministrator returns the secret of an invitation for the first
// administrator. It is void once there is one.
func (d *Directory) InviteAdministrator(ctx context.Context) (secret string, expires time.Time, err error) {
	return d.invite(ctx, Invitation{})
}

// Invite returns the secret of an invitation for a user. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (d *Directory) Invite(ctx context.Context, name string) (secret string, expires time.Time, err error) {
	user, err := d.User(ctx, name)
	if err != nil {
		return "", time.Time{}, err
	}
	return d.invite(ctx, Invitation{User: user.Name, UserID: user.ID})
}

func (d *Directory) invite(ctx context.Context, i Invitation) (string, time.Time, error) {
	secret := newSecret()
	i.ExpiresAt = time.Now().Add(invitationLife).UTC().Truncate(time.Millisecond)
	_, err := write(ctx, d.conn, kindInvitation, digest(secret), &i, 0)
	return secret, i.ExpiresAt, err
}

// Invitation returns what a secret invites to, without using it. The error is
// [ErrInvitation] when it invites to nothing.
func (d *Directory) Invitation(ctx context.Context, secret string) (*Invitation, error) {
	i, _, err := d.invitation(ctx, secret)
	return i, err
}

func (d *Directory) invitation(ctx context.Context, secret string) (*Invitation, uint64, error) {
	i, revision, err := read[Invitation](ctx, d.conn, kindInvitation, digest(secret))
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, 0, ErrInvitation
	case err != nil:
		return nil, 0, err
	case !time.Now().Before(i.ExpiresAt):
		return nil, 0, errors.Join(ErrInvitation, remove(ctx, d.conn, kindInvitation, digest(secret), revision))
	}
	if i.User == "" {
		taken, err := d.HasAdministrator(ctx)
		if err != nil {
			return nil, 0, err
		}
		if taken {
			return nil, 0, ErrInvitation
		}
		return &i, revision, nil
	}
	user, err := d.User(ctx, i.User)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, 0, ErrInvitation
	case err != nil:
		return nil, 0, err
	case user.ID != i.UserID || user.Disabled:
		return nil, 0, ErrInvitation
	}
	return &i, revision, nil
}

// Accept uses an invitation: it gives its user the password, and signs in. name is
// that of the first administrator; for any other invitation it may be empty. Errors:
// [ErrInvitation], *job.InvalidError, job.ErrConflict when the name is taken,
// job.ErrUnavailable.
func (d *Directory) Accept(ctx context.Context, secret, name, password string, from Client) (*Identity, string, error) {
	i, revision, err := d.invitation(ctx, secret)
	if err != nil {
		return nil, "", err
	}
	switch {
	case i.User == "":
		err = d.free(ctx, name)
	case name != "" && name != i.User:
		err = &job.InvalidError{Field: "user", Reason: fmt.Sprintf("must be %q, whom the link is for", i.User)}
	default:
		name = i.User
	}
	if err := errors.Join(err, checkPassword(password, name)); err != nil {
		return nil, "", err
	}
	hash, err := d.hasher.hash(ctx, password)
	if err != nil {
		return nil, "", err
	}
	// Whoever removes the invitation has used it: of two at once, one.
	if err := remove(ctx, d.conn, kindInvitation, digest(secret), revision); err != nil {
		if errors.Is(err, job.ErrConflict) {
			return nil, "", ErrInvitation
		}
		return nil, "", err
	}
	var user *User
	if i.User == "" {
		user, err = d.create(ctx, User{Name: name, Access: rights.List{{Role: rights.Admin, Group: rights.Everywhere}}, Password: hash})
	} else {
		user, err = d.edit(ctx, name, 0, func(u *User) error {
			u.Password, u.Generation = hash, newID()
			return nil
		})
	}
	if err != nil {
		return nil, "", err
	}
	return d.signedIn(ctx, user, from, 0)
}

// free returns an error unless a user of that name can be made.
func (d *Directory) free(ctx context.Context, name string) error {
	if err := CheckUserName(name); err != nil {
		return err
	}
	_, err := d.User(ctx, name)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With("user "+name))
}

// Renew begins a session of a user who is known to be who they say. Errors:
// job.ErrNotFound, job.ErrUnavailable.
func (d *Directory) Renew(ctx context.Context, name string, from Client) (*Identity, string, error) {
	user, err := d.User(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return d.signedIn(ctx, user, from, 0)
}

// signedIn begins a session of user, for as long as begin is told.
func (d *Directory) signedIn(ctx context.Context, user *User, from Client, life time.Duration) (*Identity, string, error) {
	s, cookie, err := d.begin(ctx, user, from, life)
	if err != nil {
		return nil, "", err
	}
	return &Identity{User: user.Name, DisplayName: user.DisplayName, How: rights.BySession, Access: user.Access, Session: s.ID, Password: user.Password != "", External: user.External != ""}, cookie, nil
}
