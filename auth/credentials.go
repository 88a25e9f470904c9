package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Bounds of what people ask of credentials.
const (
	maxCredentialLife    = 10 * 366 * 24 * time.Hour
	maxCredentialOverlap = 30 * 24 * time.Hour

	maxBridgeGroups = 100
	// maxCredentials is how many credentials a group may have, expired ones among them.
	maxCredentials = 1000
)

// Credential lets a program connect to NATS as an executor of one group. It is a key
// pair (an nkey): its holder has the private half, called seed, and signs with it what
// the NATS server challenges it with. The seed is nowhere in the system.
type Credential struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"` // where it is, or what for
	Group     string    `json:"group"`
	PublicKey string    `json:"public_key"`
	Author    string    `json:"author"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when it ends, zero for never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Replaces is the credential that was rotated into this one.
	Replaces string `json:"replaces,omitempty"`
	// BridgeGroups makes it the credential of a bridge, which is an executor of all these groups; Group
	// is one of them.
	BridgeGroups []string `json:"bridge_groups,omitempty"`
}

// Serves returns the groups that the credential's holder acts for.
func (c *Credential) Serves() []string {
	if len(c.BridgeGroups) > 0 {
		return c.BridgeGroups
	}
	return []string{c.Group}
}

// Expired reports whether the credential has ended at now.
func (c *Credential) Expired(now time.Time) bool {
	return !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt)
}

// Credentials are the credentials of executors and bridges. They are safe for concurrent use.
type Credentials struct {
	table   table[Credential]
	changed chan struct{} // has a value when credentials have changed since it was taken out
}

func newCredentials(conn *jet.Conn) *Credentials {
	changed := make(chan struct{}, 1)
	return &Credentials{changed: changed, table: tableOf(&kindCredential, conn, func(*Credential) {
		select {
		case changed <- struct{}{}:
		default: // it has one already
		}
	})}
}

// Create makes a credential of a group, and returns it with its seed, which
// nobody can see again. life is how long it works, zero for ever. Errors:
// *job.InvalidError, job.ErrUnavailable.
func (cs *Credentials) Create(ctx context.Context, group, name, author string, life time.Duration) (*Credential, string, error) {
	return cs.CreateForBridge(ctx, group, nil, name, author, life)
}

// CreateForBridge is [Credentials.Create] for a bridge that serves several groups.
// groups must contain group.
func (cs *Credentials) CreateForBridge(ctx context.Context, group string, groups []string, name, author string, life time.Duration) (*Credential, string, error) {
	errs := []error{job.CheckSlug("group", group)}
	for _, g := range groups {
		errs = append(errs, job.CheckSlug("bridge_groups", g))
	}
	if len(groups) > 0 && !slices.Contains(groups, group) || len(groups) > maxBridgeGroups {
		errs = append(errs, &job.InvalidError{Field: "bridge_groups", Reason: fmt.Sprintf("must have the group %q itself, and at most %d", clip.Text(group, 64), maxBridgeGroups)})
	}
	if name == "" || len(name) > 100 {
		errs = append(errs, &job.InvalidError{Field: "name", Reason: "must say in 1 to 100 bytes where the credential is, or what for"})
	}
	if life < 0 || life > maxCredentialLife {
		errs = append(errs, &job.InvalidError{Field: "expires_in", Reason: fmt.Sprintf("must be more than zero and at most %s", job.Duration(maxCredentialLife))})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, "", err
	}
	have, err := cs.OfGroup(ctx, group)
	if err != nil {
		return nil, "", err
	}
	if n := len(have); n >= maxCredentials {
		return nil, "", &job.InvalidError{Field: "group", Reason: refusal.GroupHasCredentials.With(group, n)}
	}
	c := Credential{Name: name, Group: group, Author: author, BridgeGroups: groups}
	if life > 0 {
		c.ExpiresAt = time.Now().Add(life).UTC().Truncate(time.Millisecond)
	}
	return cs.store(ctx, c)
}

// store gives a credential its key and writes it.
func (cs *Credentials) store(ctx context.Context, c Credential) (*Credential, string, error) {
	if err := cs.table.wait(ctx); err != nil {
		return nil, "", err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	defer pair.Wipe()
	if c.PublicKey, err = pair.PublicKey(); err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	c.ID = credentialID(c.PublicKey)
	if now := time.Now().UTC().Truncate(time.Millisecond); now.After(c.CreatedAt) {
		c.CreatedAt = now
	}
	if _, err := cs.table.write(ctx, c.ID, c, 0); err != nil {
		return nil, "", err
	}
	return &c, string(seed), nil
}

// credentialID names the credential of a public key: 75 of its bits, which is enough to
// tell credentials apart, and is not what they are judged by.
func credentialID(publicKey string) string {
	return strings.ToLower(publicKey[1:min(len(publicKey), 16)])
}

// OfGroup returns the credentials of a group, the newest first, expired ones
// included: people see why a program was turned away.
func (cs *Credentials) OfGroup(ctx context.Context, group string) ([]Credential, error) {
	if err := cs.table.wait(ctx); err != nil {
		return nil, err
	}
	list := []Credential{}
	for _, f := range cs.table.Find(func(c *Credential) bool { return c.Group == group }) {
		list = append(list, f.Value)
	}
	slices.SortStableFunc(list, func(a, b Credential) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list, nil
}

// Get returns a credential of a group. The error is job.ErrNotFound when the
// group has none of that id.
func (cs *Credentials) Get(ctx context.Context, group, id string) (*Credential, error) {
	c, _, err := cs.find(ctx, group, id)
	return c, err
}

func (cs *Credentials) find(ctx context.Context, group, id string) (*Credential, uint64, error) {
	if err := cs.table.wait(ctx); err != nil {
		return nil, 0, err
	}
	c, revision, ok := cs.table.Get(id)
	if !ok || c.Group != group {
		return nil, 0, fmt.Errorf("%w: group %s has no credential %s", job.ErrNotFound, clip.Text(group, 64), clip.Text(id, 64))
	}
	return &c, revision, nil
}

// Rotate creates another credential of the same name; the old one ends
// after overlap, if it does not end before. Errors: *job.InvalidError,
// job.ErrNotFound, job.ErrConflict when it has ended, job.ErrUnavailable.
func (cs *Credentials) Rotate(ctx context.Context, group, id, author string, overlap time.Duration) (*Credential, string, error) {
	if overlap < 0 || overlap > maxCredentialOverlap {
		return nil, "", &job.InvalidError{Field: "overlap", Reason: fmt.Sprintf("must be at most %s", job.Duration(maxCredentialOverlap))}
	}
	old, revision, err := cs.find(ctx, group, id)
	if err != nil {
		return nil, "", err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if old.Expired(now) {
		return nil, "", fmt.Errorf("%w: credential %s has ended; create another", job.ErrConflict, id)
	}
	next := Credential{Name: old.Name, Group: group, Author: author, Replaces: old.ID, BridgeGroups: old.BridgeGroups}
	next.CreatedAt = old.CreatedAt.Add(time.Millisecond) // at least: lists have the newest first
	if !old.ExpiresAt.IsZero() {
		next.ExpiresAt = now.Add(old.ExpiresAt.Sub(old.CreatedAt))
	}
	// The new one first: should the second write fail, both work, and nobody is locked out.
	made, seed, err := cs.store(ctx, next)
	if err != nil {
		return nil, "", err
	}
	if end := now.Add(overlap); old.ExpiresAt.IsZero() || end.Before(old.ExpiresAt) {
		old.ExpiresAt = end
		if _, err = cs.table.write(ctx, old.ID, *old, revision); err != nil {
			return nil, "", errors.Join(err, cs.Revoke(ctx, group, made.ID))
		}
	}
	return made, seed, nil
}

// Revoke ends a credential. Errors: job.ErrNotFound, job.ErrUnavailable.
func (cs *Credentials) Revoke(ctx context.Context, group, id string) error {
	if _, err := cs.Get(ctx, group, id); err != nil {
		return err
	}
	return cs.table.remove(ctx, id, 0)
}

// ByPublicKey returns the credential of a key. The caller must verify that the holder has the
// private half. Errors: [ErrUnauthenticated], job.ErrUnavailable.
func (cs *Credentials) ByPublicKey(ctx context.Context, key string) (*Credential, error) {
	if err := cs.table.wait(ctx); err != nil {
		return nil, err
	}
	if key == "" {
		return nil, ErrUnauthenticated
	}
	c, _, ok := cs.table.Get(credentialID(key))
	if !ok || c.PublicKey != key || c.Expired(time.Now()) {
		return nil, ErrUnauthenticated
	}
	return &c, nil
}

// Served returns the groups that the credential of a group acts for, none if the group has no such
// credential or it has ended. It must not be called before the credentials are loaded.
func (cs *Credentials) Served(group, id string) []string {
	c, _, ok := cs.table.Get(id)
	if !ok || c.Group != group || c.Expired(time.Now()) {
		return nil
	}
	return c.Serves()
}

// AllServed returns the groups that credentials act for, in order, those that have ended included.
// It must not be called before the credentials are loaded.
func (cs *Credentials) AllServed() []string {
	var groups []string
	for _, f := range cs.table.Find(func(*Credential) bool { return true }) {
		groups = append(groups, f.Value.Serves()...)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// Wait waits until all credentials that there are have been read. The error is
// job.ErrUnavailable when ctx is done first.
func (cs *Credentials) Wait(ctx context.Context) error { return cs.table.wait(ctx) }

// Changed returns a channel that has a value when credentials have changed
// since it was read. It is for one reader.
func (cs *Credentials) Changed() <-chan struct{} { return cs.changed }
