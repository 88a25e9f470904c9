package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// MaxTokenLife bounds how long a token may last.
const MaxTokenLife = 366 * 24 * time.Hour

// maxTokens is how many tokens a user may have, expired ones among them until they are removed.
const maxTokens = 1000

// tokenPrefix begins every token, so that scanners for leaked secrets know them.
const tokenPrefix = "carillon_"

// Token lets a program act for a user, within limits. Its secret is known to its
// holder only.
type Token struct {
	ID     string `json:"id"`
	Name   string `json:"name"` // what it is for
	User   string `json:"user"`
	UserID string `json:"user_id"`
	// Access limits what the token may do; it is never more than its user may.
	Access rights.List `json:"access"`
	// Only limits it further, to some kinds of requests; empty is no limit.
	Only      rights.Only `json:"only,omitempty"`
	Hash      string      `json:"hash"`
	CreatedAt time.Time   `json:"created_at"`
	ExpiresAt time.Time   `json:"expires_at"`
}

// Tokens are the API tokens of users. They are safe for concurrent use.
type Tokens struct {
	table table[Token]
	users *Users
}

// Create makes a token of a user, and returns it with its secret, which nobody
// can see again. access may be more than the user may: it counts as far as the user's
// goes at the time of use. only limits it to these kinds of requests; without any, it has no such
// limit. Errors: *job.InvalidError, job.ErrNotFound when there is no such user, job.ErrUnavailable.
func (ts *Tokens) Create(ctx context.Context, user, name string, access rights.List, life time.Duration, only ...rights.Scope) (*Token, string, error) {
	owner, err := ts.users.Get(ctx, user)
	if err != nil {
		return nil, "", err
	}
	var errs []error
	if name == "" || len(name) > 100 {
		errs = append(errs, &job.InvalidError{Field: "name", Reason: "must say in 1 to 100 bytes what the token is for"})
	}
	if life <= 0 || life > MaxTokenLife {
		errs = append(errs, &job.InvalidError{Field: "expires_in", Reason: fmt.Sprintf("must be more than zero and at most %s", job.Duration(MaxTokenLife))})
	}
	for i, s := range only {
		if !slices.Contains(rights.Scopes, s) {
			errs = append(errs, job.Invalid(fmt.Sprintf("only[%d]", i), "%q must be one of %v", s, rights.Scopes))
		}
	}
	access = access.WithDefaults()
	errs = append(errs, access.Validate("access")...)
	if err := errors.Join(errs...); err != nil {
		return nil, "", err
	}
	have, err := ts.OfUser(ctx, owner.Name)
	if err != nil {
		return nil, "", err
	}
	if n := len(have); n >= maxTokens {
		return nil, "", &job.InvalidError{Field: "name", Reason: refusal.UserHasTokens.With(owner.Name, n)}
	}
	secret := newSecret()
	now := time.Now().UTC().Truncate(time.Millisecond)
	t := &Token{
		ID: newID(), Name: name, User: owner.Name, UserID: owner.ID, Access: access, Only: only, Hash: digest(secret),
		CreatedAt: now, ExpiresAt: now.Add(life).Truncate(time.Millisecond),
	}
	if _, err := ts.table.write(ctx, t.ID, *t, 0); err != nil {
		return nil, "", err
	}
	return t, tokenPrefix + t.ID + "_" + secret, nil
}

// bySecret returns the token that a secret belongs to.
func (ts *Tokens) bySecret(secret string) (Token, bool) {
	rest, isToken := strings.CutPrefix(secret, tokenPrefix)
	id, own, whole := strings.Cut(rest, "_")
	token, _, known := ts.table.Get(id)
	same := subtle.ConstantTimeCompare([]byte(digest(own)), []byte(token.Hash)) == 1
	return token, isToken && whole && known && same
}

// OfUser returns the tokens of a user, or all if user is empty, in order of id. Those
// that have expired are listed too, so that people see why a program was turned away.
func (ts *Tokens) OfUser(ctx context.Context, user string) ([]Token, error) {
	if err := errors.Join(ts.table.wait(ctx), ts.users.table.wait(ctx)); err != nil {
		return nil, err
	}
	list := []Token{}
	for _, f := range ts.table.Find(func(t *Token) bool { return user == "" || t.User == user }) {
		list = append(list, f.Value)
	}
	return list, nil
}

// Rests reports whether a token does not work because a provider has not signed its user
// in for too long; once it does, the token works again.
func (ts *Tokens) Rests(t *Token) bool {
	user, ok := ts.users.owner(t.User, t.UserID)
	return ok && user.rests(time.Now())
}

// rests reports whether the user's tokens do not work at now for want of a sign-in.
func (u *User) rests(now time.Time) bool { return u.External != "" && !now.Before(u.VouchedUntil) }

// Get returns a token. The error is job.ErrNotFound when there is none of that id.
func (ts *Tokens) Get(ctx context.Context, id string) (*Token, error) {
	if err := ts.table.wait(ctx); err != nil {
		return nil, err
	}
	t, _, ok := ts.table.Get(id)
	if !ok {
		return nil, fmt.Errorf("%w: token %s", job.ErrNotFound, clip.Text(id, 64))
	}
	return &t, nil
}

// Revoke ends a token. Errors: job.ErrNotFound, job.ErrUnavailable.
func (ts *Tokens) Revoke(ctx context.Context, id string) error {
	if _, err := ts.Get(ctx, id); err != nil {
		return err
	}
	return ts.table.remove(ctx, id, 0)
}

// removeOf deletes the tokens of a user.
func (ts *Tokens) removeOf(ctx context.Context, user string) error {
	for _, t := range ts.table.Find(func(t *Token) bool { return t.User == user }) {
		if err := ts.table.remove(ctx, t.Key, 0); err != nil {
			return err
		}
	}
	return nil
}
