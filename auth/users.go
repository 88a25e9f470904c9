package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Users are those who may sign in. They are safe for concurrent use.
type Users struct {
	table       table[User]
	invitations jet.Records[Invitation]
	tokens      *Tokens
	hasher      hasher
	log         *slog.Logger
}

// HashCheaply makes the hashes of passwords take next to no memory and time. It is for tests of what
// signs users in, and must be called before Run.
func (us *Users) HashCheaply() { us.hasher.memory = 64 }

// Get returns a user. The error is job.ErrNotFound when there is none of that name.
func (us *Users) Get(ctx context.Context, name string) (*User, error) {
	if err := us.table.wait(ctx); err != nil {
		return nil, err
	}
	u, revision, ok := us.table.Get(userKey(name))
	if !ok {
		return nil, fmt.Errorf("%w: user %s", job.ErrNotFound, clip.Text(name, 128))
	}
	u.Revision = revision
	return &u, nil
}

// All returns all users in order of name.
func (us *Users) All(ctx context.Context) ([]User, error) {
	if err := us.table.wait(ctx); err != nil {
		return nil, err
	}
	list := []User{}
	for _, f := range us.table.Find(func(*User) bool { return true }) {
		f.Value.Revision = f.Revision
		list = append(list, f.Value)
	}
	return list, nil
}

// UserEdit is what an administrator sets of a user; nil leaves an existing user as it is.
type UserEdit struct {
	DisplayName *string
	Access      rights.List
	Disabled    *bool
	// IfRevision makes the edit conditional on the user's present revision, IfAbsent
	// on there being no such user.
	IfRevision uint64
	IfAbsent   bool
}

// over returns u as it is after the edit.
func (e *UserEdit) over(u User) User {
	u.Access = e.Access
	if e.DisplayName != nil {
		u.DisplayName = *e.DisplayName
	}
	if e.Disabled != nil {
		u.Disabled = *e.Disabled
	}
	return u
}

// Put creates a user, without a password, or edits one. It returns the user before
// the edit too, nil for one who is new. Errors: *job.InvalidError, job.ErrConflict
// when the condition does not hold or it would take the last administrator away,
// job.ErrUnavailable.
func (us *Users) Put(ctx context.Context, name string, e UserEdit) (was, now *User, err error) {
	was, err = us.Get(ctx, name)
	switch {
	case errors.Is(err, job.ErrNotFound) && e.IfRevision == 0:
		now, err = us.create(ctx, e.over(User{Name: name}))
		return nil, now, err
	case errors.Is(err, job.ErrNotFound):
		return nil, nil, fmt.Errorf("%w: there is no user %s any more", job.ErrConflict, name)
	case err != nil:
		return nil, nil, err
	case e.IfAbsent:
		return nil, nil, fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With("user "+name))
	}
	now, err = us.edit(ctx, name, e.IfRevision, func(u *User) error {
		enabled := !u.Disabled
		if *u = e.over(*u); enabled && u.Disabled {
			u.Generation, u.Invitation = newID(), ""
		}
		return us.keepsAnAdministrator(u)
	})
	return was, now, err
}

// Delete deletes a user with all its tokens; its sessions end with it. Errors:
// job.ErrNotFound, job.ErrConflict as Put, job.ErrUnavailable.
func (us *Users) Delete(ctx context.Context, name string, ifRevision uint64) error {
	user, err := us.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := us.keepsAnAdministrator(&User{Name: name}); err != nil {
		return err
	}
	if ifRevision == 0 {
		ifRevision = user.Revision
	}
	if err := us.table.remove(ctx, userKey(name), ifRevision); err != nil {
		return err
	}
	us.forgetInvitation(ctx, user.Invitation)
	return us.tokens.removeOf(ctx, name) // void without their user: this is tidiness
}

// keepsAnAdministrator returns job.ErrConflict if the change to u would leave nobody
// who can manage users.
func (us *Users) keepsAnAdministrator(u *User) error {
	if u.isAdministrator() {
		return nil
	}
	admins := us.table.Find((*User).isAdministrator)
	if len(admins) == 1 && admins[0].Value.Name == u.Name {
		return fmt.Errorf("%w: %s is the last administrator", job.ErrConflict, u.Name)
	}
	return nil
}

// SetPassword gives a user another password. It ends all sessions and voids all
// invitations of the user. Errors:
// *job.InvalidError, job.ErrNotFound, job.ErrUnavailable.
func (us *Users) SetPassword(ctx context.Context, name, password string) error {
	if err := checkPassword(password, name); err != nil {
		return err
	}
	hash, err := us.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = us.edit(ctx, name, 0, func(u *User) error {
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
func (us *Users) EndSessions(ctx context.Context, name string) error {
	_, err := us.edit(ctx, name, 0, func(u *User) error { u.Generation = newID(); return nil })
	return err
}

// create stores a new user.
func (us *Users) create(ctx context.Context, u User) (*User, error) {
	u.ID, u.Generation = newID(), newID()
	u.CreatedAt = time.Now().UTC().Truncate(time.Millisecond)
	u.UpdatedAt = u.CreatedAt
	u.Access = u.Access.WithDefaults()
	if err := u.validate(); err != nil {
		return nil, err
	}
	revision, err := us.table.write(ctx, userKey(u.Name), u, 0)
	if err != nil {
		return nil, err
	}
	u.Revision = revision
	return &u, nil
}

// edit stores what change makes of a user; ifRevision 0 is any. Somebody else's edit
// in between is kept.
func (us *Users) edit(ctx context.Context, name string, ifRevision uint64, change func(*User) error) (*User, error) {
	var u User
	var invitation string
	revision, err := us.table.records.Edit(ctx, userKey(name), func(stored *User, revision uint64) (bool, error) {
		switch {
		case revision == 0:
			return false, fmt.Errorf("%w: user %s", job.ErrNotFound, name)
		case ifRevision != 0 && ifRevision != revision:
			return false, fmt.Errorf("%w: %s", job.ErrConflict, refusal.NotAtRevision.With("user "+name, ifRevision))
		}
		invitation = stored.Invitation
		stored.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
		if err := change(stored); err != nil {
			return false, err
		}
		stored.Access = stored.Access.WithDefaults()
		u = *stored
		return true, u.validate()
	})
	if err != nil {
		return nil, err
	}
	u.Revision = revision
	us.table.Put(userKey(name), u, revision)
	if u.Invitation != invitation {
		us.forgetInvitation(ctx, invitation)
	}
	return &u, nil
}

// forgetInvitation deletes the record of an invitation that is void; none if empty. It
// is tidiness: if it fails, the record stays, and opens nothing.
func (us *Users) forgetInvitation(ctx context.Context, digest string) {
	if digest == "" {
		return
	}
	if err := us.invitations.Remove(ctx, digest, 0); err != nil {
		us.log.DebugContext(ctx, "void invitation not deleted", "error", err)
	}
}

// owner returns the user of a session or token, unless it is disabled or another one.
func (us *Users) owner(name, id string) (*User, bool) {
	user, _, ok := us.table.Get(userKey(name))
	return &user, ok && user.ID == id && !user.Disabled
}

// HasAdministrator reports whether somebody can sign in who may do everything.
func (us *Users) HasAdministrator(ctx context.Context) (bool, error) {
	if err := us.table.wait(ctx); err != nil {
		return false, err
	}
	return len(us.table.Find((*User).isAdministrator)) > 0, nil
}

// free returns an error unless a user of that name can be made.
func (us *Users) free(ctx context.Context, name string) error {
	if err := CheckUserName(name); err != nil {
		return err
	}
	_, err := us.Get(ctx, name)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With("user "+name))
}
