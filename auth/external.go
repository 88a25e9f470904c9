package auth

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// External is somebody whom a provider of identities has signed in.
type External struct {
	// Issuer and Subject are who it is, for ever. Whatever else changes, they do not.
	Issuer, Subject string
	// Name is what the user is called when first seen: see [CheckUserName].
	Name        string
	DisplayName string
	// Access is what the provider's groups stand for, and Managed says that they stand
	// for something: then this is all that the user may. Otherwise it is what a new
	// user may, and later administrators say.
	Access  AccessList
	Managed bool
	// SessionLife is how long the session may last, at most [SessionLife]: the provider
	// is asked again after it, so that who has left a group there does not stay for
	// longer. Defaults to that.
	SessionLife time.Duration
}

// ErrNoAccess means that a provider's user is in no group that stands for anything.
var ErrNoAccess = errors.New("no access")

// SignInExternal begins a session of a provider's user and returns its cookie's secret.
// A user who is new is made; one who has the name but is not known to the provider is
// somebody else. Errors: [ErrNoAccess], [ErrUnauthenticated] when the user is disabled,
// job.ErrConflict when the name is taken, *job.InvalidError when it can be none,
// job.ErrUnavailable.
func (d *Directory) SignInExternal(ctx context.Context, e *External, from Client) (*Identity, string, error) {
	if err := d.users.wait(ctx); err != nil {
		return nil, "", err
	}
	is := e.Issuer + " " + e.Subject
	known := d.users.all(func(u *User) bool { return u.External == is })
	if len(known) == 0 {
		if e.Managed && len(e.Access) == 0 {
			return nil, "", ErrNoAccess
		}
		if err := d.free(ctx, e.Name); err != nil {
			return nil, "", err
		}
		user, err := d.create(ctx, User{Name: e.Name, DisplayName: e.DisplayName, Access: e.Access, External: is})
		if err != nil {
			return nil, "", err
		}
		return d.signedIn(ctx, user, from, e.SessionLife)
	}
	user := known[0].value
	if user.Disabled {
		return nil, "", fmt.Errorf("%w: user %s is disabled", ErrUnauthenticated, user.Name)
	}
	access := user.Access
	if e.Managed {
		access = e.Access.WithDefaults()
	}
	if user.DisplayName != e.DisplayName || !reflect.DeepEqual(user.Access, access) {
		now, err := d.edit(ctx, user.Name, 0, func(u *User) error {
			u.DisplayName, u.Access = e.DisplayName, access
			return nil
		})
		if err != nil {
			return nil, "", err
		}
		user = *now
	}
	if len(user.Access) == 0 && e.Managed {
		return nil, "", ErrNoAccess
	}
	return d.signedIn(ctx, &user, from, e.SessionLife)
}
