package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/carillon-scheduler/carillon/job/rights"
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
	Access  rights.List
	Managed bool
	// SessionLife is how long the session may last, at most [SessionLife]: the provider
	// is asked again after it, so that who has left a group there does not stay for
	// longer. Defaults to that.
	SessionLife time.Duration
	// TokenLife is how long after this sign-in the user's API tokens work, for the same
	// reason; the next sign-in has them work again. Defaults to [DefaultTokenRest].
	TokenLife time.Duration
}

// DefaultTokenRest is how long after a sign-in at a provider a user's API tokens work,
// unless a server says otherwise: people who are still there sign in once a week.
const DefaultTokenRest = 7 * 24 * time.Hour

// vouchedEvery is how exact a user's VouchedUntil is: sign-ins that follow each other
// closely write it once.
const vouchedEvery = time.Hour

// ErrNoAccess means that a provider's user is in no group that stands for anything.
var ErrNoAccess = errors.New("no access")

// SignInExternal begins a session of a provider's user and returns its cookie's secret.
// A user who is new is made; one who has the name but is not known to the provider is
// somebody else. Errors: [ErrNoAccess], [ErrUnauthenticated] when the user is disabled,
// job.ErrConflict when the name is taken, *job.InvalidError when it can be none,
// job.ErrUnavailable.
func (d *Directory) SignInExternal(ctx context.Context, e *External, from Client) (*Identity, string, error) {
	if err := d.users.table.wait(ctx); err != nil {
		return nil, "", err
	}
	is := e.Issuer + " " + e.Subject
	vouched := time.Now().UTC().Add(cmp.Or(e.TokenLife, DefaultTokenRest)).Truncate(time.Millisecond)
	known := d.users.table.Find(func(u *User) bool { return u.External == is })
	if len(known) == 0 {
		if e.Managed && len(e.Access) == 0 {
			return nil, "", ErrNoAccess
		}
		if err := d.users.free(ctx, e.Name); err != nil {
			return nil, "", err
		}
		user, err := d.users.create(ctx, User{Name: e.Name, DisplayName: e.DisplayName, Access: e.Access, External: is, VouchedUntil: vouched})
		if err != nil {
			return nil, "", err
		}
		return d.signedIn(ctx, user, from, e.SessionLife)
	}
	user := known[0].Value
	if user.Disabled {
		return nil, "", fmt.Errorf("%w: user %s is disabled", ErrUnauthenticated, user.Name)
	}
	access := user.Access
	if e.Managed {
		access = e.Access.WithDefaults()
	}
	changed := user.DisplayName != e.DisplayName || !reflect.DeepEqual(user.Access, access)
	if changed || vouched.Sub(user.VouchedUntil).Abs() >= vouchedEvery {
		now, err := d.users.edit(ctx, user.Name, 0, func(u *User) error {
			u.DisplayName, u.Access, u.VouchedUntil = e.DisplayName, access, vouched
			if !changed {
				u.UpdatedAt = user.UpdatedAt // nobody has edited anything
			}
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
