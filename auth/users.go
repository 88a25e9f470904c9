package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// User returns a user. The error is job.ErrNotFound when there is none of that name.
func (d *Directory) User(ctx context.Context, name string) (*User, error) {
	if err := loaded(ctx, d.users); err != nil {
		return nil, err
	}
	u, revision, ok := d.users.Get(userKey(name))
	if !ok {
		return nil, fmt.Errorf("%w: user %s", job.ErrNotFound, clip.Text(name, 128))
	}
	u.Revision = revision
	return &u, nil
}

// Users returns all users in order of name.
func (d *Directory) Users(ctx context.Context) ([]User, error) {
	if err := loaded(ctx, d.users); err != nil {
		return nil, err
	}
	list := []User{}
	for _, f := range d.users.Find(func(*User) bool { return true }) {
		f.Value.Revision = f.Revision
		list = append(list, f.Value)
	}
	return list, nil
}

// UserEdit is what an administrator sets of a user.
type UserEdit struct {
	DisplayName string
	Access      rights.List
	Disabled    bool
	// IfRevision makes the edit conditional on the user's present revision, IfAbsent
	// on there being no such user.
	IfRevision uint64
	IfAbsent   bool
}

// PutUser creates a user, without a password, or edits one. It returns the user before
// the edit too, nil for one who is new. Errors: *job.InvalidError, job.ErrConflict
// when the condition does not hold or it would take the last administrator away,
// job.ErrUnavailable.
func (d *Directory) PutUser(ctx context.Context, name string, e UserEdit) (was, now *User, err error) {
	was, err = d.User(ctx, name)
	switch {
	case errors.Is(err, job.ErrNotFound) && e.IfRevision == 0:
		now, err = d.create(ctx, User{Name: name, DisplayName: e.DisplayName, Access: e.Access, Disabled: e.Disabled})
		return nil, now, err
	case errors.Is(err, job.ErrNotFound):
		return nil, nil, fmt.Errorf("%w: there is no user %s any more", job.ErrConflict, name)
	case err != nil:
		return nil, nil, err
	case e.IfAbsent:
		return nil, nil, fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With("user "+name))
	}
	now, err = d.edit(ctx, name, e.IfRevision, func(u *User) error {
		if e.Disabled && !u.Disabled {
			u.Generation, u.Invitation = newID(), ""
		}
		u.DisplayName, u.Access, u.Disabled = e.DisplayName, e.Access, e.Disabled
		return d.keepsAnAdministrator(u)
	})
	return was, now, err
}

// DeleteUser deletes a user with all its tokens; its sessions end with it. Errors:
// job.ErrNotFound, job.ErrConflict as PutUser, job.ErrUnavailable.
func (d *Directory) DeleteUser(ctx context.Context, name string, ifRevision uint64) error {
	user, err := d.User(ctx, name)
	if err != nil {
		return err
	}
	if err := d.keepsAnAdministrator(&User{Name: name}); err != nil {
		return err
	}
	if ifRevision == 0 {
		ifRevision = user.Revision
	}
	if err := d.records.users.Remove(ctx, userKey(name), ifRevision); err != nil {
		return err
	}
	d.users.Delete(userKey(name))
	d.forgetInvitation(ctx, user.Invitation)
	// They are void without their user: this is tidiness.
	for _, t := range d.tokens.Find(func(t *Token) bool { return t.User == name }) {
		if err := d.records.tokens.Remove(ctx, t.Key, 0); err != nil {
			return err
		}
		d.tokens.Delete(t.Key)
	}
	return nil
}

// keepsAnAdministrator returns job.ErrConflict if the change to u would leave nobody
// who can manage users.
func (d *Directory) keepsAnAdministrator(u *User) error {
	if u.isAdministrator() {
		return nil
	}
	admins := d.users.Find((*User).isAdministrator)
	if len(admins) == 1 && admins[0].Value.Name == u.Name {
		return fmt.Errorf("%w: %s is the last administrator", job.ErrConflict, u.Name)
	}
	return nil
}

// SetPassword gives a user another password. It ends all sessions and voids all
// invitations of the user. Errors:
// *job.InvalidError, job.ErrNotFound, job.ErrUnavailable.
func (d *Directory) SetPassword(ctx context.Context, name, password string) error {
	if err := checkPassword(password, name); err != nil {
		return err
	}
	hash, err := d.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = d.edit(ctx, name, 0, func(u *User) error {
		u.setPassword(hash)
		return nil
	})
	return err
}

// setPassword gives the user a password. Sessions and invitations from before it are
// void.
func (u *User) setPassword(hash string) {
	u.Password, u.Generation, u.Invitation = hash, newID(), ""
}

// EndSessions ends all sessions of a user. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (d *Directory) EndSessions(ctx context.Context, name string) error {
	_, err := d.edit(ctx, name, 0, func(u *User) error { u.Generation = newID(); return nil })
	return err
}

// create stores a new user.
func (d *Directory) create(ctx context.Context, u User) (*User, error) {
	u.ID, u.Generation = newID(), newID()
	u.CreatedAt = time.Now().UTC().Truncate(time.Millisecond)
	u.UpdatedAt = u.CreatedAt
	u.Access = u.Access.WithDefaults()
	if err := u.validate(); err != nil {
		return nil, err
	}
	revision, err := d.records.users.Write(ctx, userKey(u.Name), u, 0)
	if err != nil {
		return nil, err
	}
	u.Revision = revision
	d.users.Put(userKey(u.Name), u, revision)
	return &u, nil
}

// edit stores what change makes of a user; ifRevision 0 is any. Somebody else's edit
// in between is kept.
func (d *Directory) edit(ctx context.Context, name string, ifRevision uint64, change func(*User) error) (*User, error) {
	for {
		u, revision, err := d.records.users.Read(ctx, userKey(name))
		if err != nil {
			return nil, err
		}
		if ifRevision != 0 && ifRevision != revision {
			return nil, fmt.Errorf("%w: user %s: revision %d is no longer the present one", job.ErrConflict, name, ifRevision)
		}
		invitation := u.Invitation
		u.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
		if err := change(&u); err != nil {
			return nil, err
		}
		u.Access = u.Access.WithDefaults()
		if err := u.validate(); err != nil {
			return nil, err
		}
		next, err := d.records.users.Write(ctx, userKey(name), u, revision)
		if errors.Is(err, job.ErrConflict) && ifRevision == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		u.Revision = next
		d.users.Put(userKey(name), u, next)
		if u.Invitation != invitation {
			d.forgetInvitation(ctx, invitation)
		}
		return &u, nil
	}
}

// forgetInvitation deletes the record of an invitation that is void; none if empty. It
// is tidiness: if it fails, the record stays, and opens nothing.
func (d *Directory) forgetInvitation(ctx context.Context, digest string) {
	if digest == "" {
		return
	}
	if err := d.records.invitations.Remove(ctx, digest, 0); err != nil {
		d.log.DebugContext(ctx, "void invitation not deleted", "error", err)
	}
}
