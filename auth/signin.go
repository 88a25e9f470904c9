package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// How many sign-ins may fail within a window: of one user from one address, of one
// address whoever the user, of one user wherever from. The last is high: else anybody
// could lock anybody out.
const (
	failWindow  = 15 * time.Minute
	failPair    = 8
	failAddress = 40
	failUser    = 100
)

// ErrLocked is the kind of every [LockedError].
var ErrLocked = errors.New("locked")

// LockedError means that too many sign-ins failed, so this one was not looked at.
type LockedError struct {
	// After is when to try again.
	After time.Duration
}

// Is makes every LockedError an [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

func (e *LockedError) Error() string {
	return fmt.Sprintf("too many sign-ins failed; try again in %s", job.Duration(e.After.Round(time.Second)))
}

// failures counts sign-ins that failed since a window began.
type failures struct {
	Since time.Time `json:"since"`
	Count int       `json:"count"`
}

// counter is one count of failures and its limit.
type counter struct {
	key   string
	limit int
}

// countersOf returns what a sign-in counts for. Names are digested: any text may come.
func countersOf(user, address string) []counter {
	address = network(address)
	return []counter{
		{digest("pair " + user + " " + address), failPair},
		{digest("address " + address), failAddress},
		{digest("user " + user), failUser},
	}
}

// network returns whose an address is: of IPv6, one customer has a /64 at least.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}

// SignIn begins a session of a user with a password and returns its cookie's secret.
// Errors: [ErrUnauthenticated], *[LockedError], job.ErrUnavailable.
func (d *Directory) SignIn(ctx context.Context, name, password string, from Client) (*Identity, string, error) {
	if err := d.users.table.wait(ctx); err != nil {
		return nil, "", err
	}
	counters := countersOf(name, from.Address)
	// Counted before it is known to be wrong: many guesses at once must not all pass
	// before the first of them counts.
	for _, c := range counters {
		if err := d.attempts.count(ctx, c); err != nil {
			return nil, "", err
		}
	}
	user, err := d.checked(ctx, name, password)
	if err != nil {
		return nil, "", err
	}
	if err := d.attempts.forgive(ctx, counters); err != nil {
		return nil, "", err
	}
	return d.signedIn(ctx, user, from, 0)
}

// Reauthenticate checks the password of a user who is signed in. Errors as SignIn.
func (d *Directory) Reauthenticate(ctx context.Context, name, password string, from Client) error {
	c := counter{digest("again " + name + " " + network(from.Address)), failPair}
	if err := d.attempts.count(ctx, c); err != nil {
		return err
	}
	if _, err := d.checked(ctx, name, password); err != nil {
		return err
	}
	return d.attempts.forgive(ctx, []counter{c})
}

// checked returns the user if the password is right. It takes as long if there is no
// such user.
func (d *Directory) checked(ctx context.Context, name, password string) (*User, error) {
	user, _, known := d.users.table.Get(userKey(name))
	hash := user.Password
	if hash == "" {
		hash, known = d.users.hasher.nobodysHash(), false
	}
	if len(password) > maxPassword {
		password, known = "", false
	}
	same, err := d.users.hasher.verify(ctx, password, hash)
	if err != nil {
		return nil, fmt.Errorf("check password: %w", err)
	}
	if !same || !known || user.Disabled {
		return nil, ErrUnauthenticated
	}
	return &user, nil
}

// attempts counts the sign-ins of users and addresses, and refuses those beyond a limit.
type attempts struct{ failures jet.Records[failures] }

// count counts one sign-in.
func (as attempts) count(ctx context.Context, c counter) error {
	_, err := as.failures.Edit(ctx, c.key, func(f *failures, _ uint64) (bool, error) {
		if now := time.Now().UTC(); now.Sub(f.Since) >= failWindow {
			*f = failures{Since: now}
		}
		if f.Count >= c.limit {
			return false, &LockedError{After: failWindow - time.Since(f.Since)}
		}
		f.Count++
		return true, nil
	})
	return err
}

// forgive corrects the counters after a successful sign-in: it resets those of this
// user, and takes back this one attempt from those that it shares with others.
func (as attempts) forgive(ctx context.Context, counters []counter) error {
	if err := as.failures.Remove(ctx, counters[0].key, 0); err != nil {
		return err
	}
	for _, c := range counters[1:] {
		f, revision, err := as.failures.Read(ctx, c.key)
		if err == nil && f.Count > 0 {
			f.Count--
			_, err = as.failures.Write(ctx, c.key, f, revision)
		}
		// Losing a race leaves one too many, which is gone after the window.
		if err != nil && !errors.Is(err, job.ErrNotFound) && !errors.Is(err, job.ErrConflict) {
			return err
		}
	}
	return nil
}
