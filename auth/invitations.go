package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// invitationLife is how long a one-time link works.
const invitationLife = 24 * time.Hour

// administratorKey is the key of the links for the first administrator.
const administratorKey = "administrator"

// maxAdministratorLinks is how many links for the first administrator work at a time:
// each server that starts without an administrator writes one into its log.
const maxAdministratorLinks = 16

// Invitation allows the holder of its secret to choose a user's password, once. Its key
// is the digest of the secret. It is void unless it is its user's newest.
type Invitation struct {
	// User is whose password it is; empty for the first administrator, who chooses a
	// name too.
	User      string    `json:"user,omitempty"`
	UserID    string    `json:"user_id,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// administratorLinks are the links for the first administrator. They are one record: the first use
// of any of them removes all.
type administratorLinks struct {
	Links []administratorLink `json:"links"` // oldest first
}

type administratorLink struct {
	Digest    string    `json:"digest"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ErrInvitation means that an invitation is unknown, used, expired or void.
var ErrInvitation = errors.New("the link has been used, has been replaced by a newer one, has expired, or is not whole; ask for a new one")

// InviteAdministrator returns the secret of an invitation for the first
// administrator. It is void once there is one.
func (d *Directory) InviteAdministrator(ctx context.Context) (secret string, expires time.Time, err error) {
	secret, expires = newSecret(), linkExpiry()
	_, err = d.links.Edit(ctx, administratorKey, func(list *administratorLinks, _ uint64) (bool, error) {
		list.Links = append(list.Links, administratorLink{digest(secret), expires})
		list.Links = list.Links[max(0, len(list.Links)-maxAdministratorLinks):]
		return true, nil
	})
	return secret, expires, err
}

// Invite returns the secret of an invitation for a user. All older ones of the user are
// void. Errors: job.ErrNotFound, job.ErrUnavailable.
func (d *Directory) Invite(ctx context.Context, name string) (secret string, expires time.Time, err error) {
	user, err := d.users.Get(ctx, name)
	if err != nil {
		return "", time.Time{}, err
	}
	secret, expires = newSecret(), linkExpiry()
	i := Invitation{User: user.Name, UserID: user.ID, ExpiresAt: expires}
	if _, err := d.users.invitations.Write(ctx, digest(secret), i, 0); err != nil {
		return "", time.Time{}, err
	}
	_, err = d.users.edit(ctx, name, 0, func(u *User) error {
		if u.ID != user.ID {
			return fmt.Errorf("%w: user %s", job.ErrNotFound, name)
		}
		u.Invitation = digest(secret)
		return nil
	})
	return secret, expires, err
}

func linkExpiry() time.Time {
	return time.Now().Add(invitationLife).UTC().Truncate(time.Millisecond)
}

// Invitation returns what a secret invites to, without using it. The error is
// [ErrInvitation] when it invites to nothing.
func (d *Directory) Invitation(ctx context.Context, secret string) (*Invitation, error) {
	i, _, err := d.invitation(ctx, secret)
	return i, err
}

// invitation returns the revision of the record too.
func (d *Directory) invitation(ctx context.Context, secret string) (*Invitation, uint64, error) {
	i, revision, err := d.users.invitations.Read(ctx, digest(secret))
	switch {
	case errors.Is(err, job.ErrNotFound):
		return d.administratorInvitation(ctx, secret)
	case err != nil:
		return nil, 0, err
	case !time.Now().Before(i.ExpiresAt):
		return nil, 0, errors.Join(ErrInvitation, d.users.invitations.Remove(ctx, digest(secret), revision))
	}
	// Not from memory: the link may be newer than what this server has heard of its user.
	user, _, err := d.users.table.records.Read(ctx, userKey(i.User))
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, 0, ErrInvitation
	case err != nil:
		return nil, 0, err
	}
	return &i, revision, user.invitedBy(&i, secret)
}

func (d *Directory) administratorInvitation(ctx context.Context, secret string) (*Invitation, uint64, error) {
	list, revision, err := d.links.Read(ctx, administratorKey)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, 0, ErrInvitation
	case err != nil:
		return nil, 0, err
	}
	at := slices.IndexFunc(list.Links, func(l administratorLink) bool {
		return l.Digest == digest(secret) && time.Now().Before(l.ExpiresAt)
	})
	if at < 0 {
		return nil, 0, ErrInvitation
	}
	exists, err := d.users.HasAdministrator(ctx)
	switch {
	case err != nil:
		return nil, 0, err
	case exists:
		return nil, 0, ErrInvitation
	}
	return &Invitation{ExpiresAt: list.Links[at].ExpiresAt}, revision, nil
}

// invitedBy returns [ErrInvitation] unless the invitation of that secret is the user's
// newest.
func (u *User) invitedBy(i *Invitation, secret string) error {
	if u.ID != i.UserID || u.Disabled || u.Invitation != digest(secret) {
		return ErrInvitation
	}
	return nil
}

// Accept uses an invitation: it gives its user the password, and signs in. name is
// that of the first administrator; for any other invitation it may be empty. Of
// several uses at once, of one link or of several of a user, one succeeds. Errors:
// [ErrInvitation], *job.InvalidError, job.ErrConflict when the name is exists,
// job.ErrUnavailable.
func (d *Directory) Accept(ctx context.Context, secret, name, password string, from Client) (*Identity, string, error) {
	i, revision, err := d.invitation(ctx, secret)
	if err != nil {
		return nil, "", err
	}
	switch {
	case i.User == "":
		err = d.users.free(ctx, name)
	case name != "" && name != i.User:
		err = &job.InvalidError{Field: "user", Reason: fmt.Sprintf("must be %q, whom the link is for", i.User)}
	default:
		name = i.User
	}
	if err := errors.Join(err, checkPassword(password, name)); err != nil {
		return nil, "", err
	}
	hash, err := d.users.hasher.hash(ctx, password)
	if err != nil {
		return nil, "", err
	}
	var user *User
	if i.User == "" {
		user, err = d.createAdministrator(ctx, secret, name, hash, revision)
	} else {
		user, err = d.users.edit(ctx, name, 0, func(u *User) error {
			if err := u.invitedBy(i, secret); err != nil {
				return err
			}
			u.setPassword(hash)
			return nil
		})
	}
	switch {
	case errors.Is(err, job.ErrNotFound): // deleted in between
		return nil, "", ErrInvitation
	case err != nil:
		return nil, "", err
	}
	return d.signedIn(ctx, user, from, 0)
}

// createAdministrator creates the first administrator. Whoever removes the links, which were
// read at the given revision, has used one of them. A server that starts may add its link in
// between: then those that are there now are removed, if this one is still among them.
func (d *Directory) createAdministrator(ctx context.Context, secret, name, hash string, revision uint64) (*User, error) {
	err := d.links.Remove(ctx, administratorKey, revision)
	for errors.Is(err, job.ErrConflict) {
		if _, revision, err = d.administratorInvitation(ctx, secret); err == nil {
			err = d.links.Remove(ctx, administratorKey, revision)
		}
	}
	if err != nil {
		return nil, err
	}
	return d.users.create(ctx, User{Name: name, Access: rights.List{{Role: rights.Admin, Group: rights.Everywhere}}, Password: hash})
}

// Renew begins a session of a user who is known to be who they say. Errors:
// job.ErrNotFound, job.ErrUnavailable.
func (d *Directory) Renew(ctx context.Context, name string, from Client) (*Identity, string, error) {
	user, err := d.users.Get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return d.signedIn(ctx, user, from, 0)
}

// signedIn begins a session of user, for as long as begin is told.
func (d *Directory) signedIn(ctx context.Context, user *User, from Client, life time.Duration) (*Identity, string, error) {
	s, cookie, err := d.sessions.begin(ctx, user, from, life)
	if err != nil {
		return nil, "", err
	}
	return &Identity{User: user.Name, DisplayName: user.DisplayName, How: rights.BySession, Access: user.Access, Session: s.ID, Password: user.Password != "", External: user.External != ""}, cookie, nil
}
