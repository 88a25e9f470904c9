package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Bounds of ping tokens.
const (
	// MaxPingTokens is how many tokens a job may have that have not ended.
	MaxPingTokens = 5
	// PingTokenOverlap is for how long tokens work on by default that are rotated, and maxPingOverlap
	// the longest.
	PingTokenOverlap = 7 * 24 * time.Hour
	maxPingOverlap   = 90 * 24 * time.Hour
	// PingTokensKept is for how long a token is kept whose job was deleted: its holder learns that the
	// job is gone. A job that is made again within that time has its tokens again.
	PingTokensKept = 30 * 24 * time.Hour
	// pingUseNoted is how old the stored use of a token must be for another to be stored.
	pingUseNoted = time.Hour
)

// PingTokenPrefix begins every ping token. An API token is never taken for one, nor one for an API token.
const PingTokenPrefix = tokenPrefix + "ping_"

const (
	lenPingID     = 12
	lenPingSecret = 32 // 190 bits
)

// PingToken permits a program to report runs of one job, and nothing else. It belongs to the job, so
// that it works on when users come and go. Its secret is known to its holders only.
type PingToken struct {
	ID        string    `json:"id"`
	Job       job.Name  `json:"job"`
	Hash      string    `json:"hash"`
	By        string    `json:"by"` // the user who made it
	CreatedAt time.Time `json:"created_at"`
	// EndsAt is when a token that was rotated ends, zero for never.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// JobGoneAt is when it was noticed that the job was deleted, zero while there is one.
	JobGoneAt time.Time `json:"job_gone_at,omitzero"`
	// LastUse is its last use that was stored; a later one of up to an hour is known only to the server that saw it.
	LastUse PingUse `json:"last_use,omitzero"`
}

// PingUse is a use of a ping token.
type PingUse struct {
	At   time.Time `json:"at"`
	Host string    `json:"host"` // what the ping says, or its source address
}

// Ended reports whether the token has ended at now.
func (t *PingToken) Ended(now time.Time) bool { return !t.EndsAt.IsZero() && !now.Before(t.EndsAt) }

// PingTokens are the ping tokens of jobs. They are safe for concurrent use. Reads are from memory.
type PingTokens struct {
	table table[PingToken]
}

// Create makes a token of a job, and returns it with its secret, which nobody can see again. With rotate,
// the other tokens of the job end after overlap, unless they end before. The caller must know that there
// is such a job. Errors: *job.InvalidError, job.ErrConflict if the job has [MaxPingTokens] tokens,
// job.ErrUnavailable.
func (ts *PingTokens) Create(ctx context.Context, of job.Name, by string, rotate bool, overlap time.Duration) (*PingToken, string, error) {
	if overlap < 0 || overlap > maxPingOverlap {
		return nil, "", job.Invalid("overlap", "must be from 0s to %s", job.Duration(maxPingOverlap))
	}
	have, err := ts.OfJob(ctx, of)
	if err != nil {
		return nil, "", err
	}
	if n := len(have); n >= MaxPingTokens {
		return nil, "", fmt.Errorf("%w: %s", job.ErrConflict, refusal.JobHasPingTokens.With(string(of), n))
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	secret := base62(lenPingSecret)
	t := &PingToken{ID: base62(lenPingID), Job: of, Hash: digest(secret), By: by, CreatedAt: now}
	if len(have) > 0 && !t.CreatedAt.After(have[0].CreatedAt) {
		t.CreatedAt = have[0].CreatedAt.Add(time.Millisecond) // lists have the newest first
	}
	// The new one first: should a later write fail, all work, and nobody is locked out.
	if _, err := ts.table.write(ctx, t.ID, *t, 0); err != nil {
		return nil, "", err
	}
	for i := range have {
		if end := now.Add(overlap); rotate && (have[i].EndsAt.IsZero() || end.Before(have[i].EndsAt)) {
			if err := ts.edit(ctx, have[i].ID, func(old *PingToken) bool { old.EndsAt = end; return true }); err != nil {
				return nil, "", errors.Join(err, ts.table.remove(ctx, t.ID, 0))
			}
		}
	}
	return t, PingTokenPrefix + t.ID + "_" + secret, nil
}

// OfJob returns the tokens of a job that have not ended, the newest first. The error is job.ErrUnavailable.
func (ts *PingTokens) OfJob(ctx context.Context, of job.Name) ([]PingToken, error) {
	if err := ts.table.wait(ctx); err != nil {
		return nil, err
	}
	now, list := time.Now(), []PingToken{}
	for _, f := range ts.table.Find(func(t *PingToken) bool { return t.Job == of && !t.Ended(now) }) {
		list = append(list, f.Value)
	}
	slices.SortStableFunc(list, func(a, b PingToken) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list, nil
}

// Revoke ends a token of a job. Errors: job.ErrNotFound if the job has no such token, job.ErrUnavailable.
func (ts *PingTokens) Revoke(ctx context.Context, of job.Name, id string) error {
	if err := ts.table.wait(ctx); err != nil {
		return err
	}
	if t, _, ok := ts.table.Get(id); !ok || t.Job != of {
		return fmt.Errorf("%w: job %s has no ping token with this id", job.ErrNotFound, of) // the id may be a secret by mistake
	}
	return ts.table.remove(ctx, id, 0)
}

// BySecret returns the token that a secret belongs to, if it has not ended. It takes the same steps for any
// secret. The error is job.ErrUnavailable while the tokens are not loaded: it waits for nothing.
func (ts *PingTokens) BySecret(secret string) (t PingToken, known bool, err error) {
	if !ts.table.loaded() {
		return t, false, fmt.Errorf("%w: ping tokens are not loaded yet", job.ErrUnavailable)
	}
	rest, isToken := strings.CutPrefix(secret, PingTokenPrefix)
	id, own, whole := strings.Cut(rest, "_")
	t, _, known = ts.table.Get(id)
	same := subtle.ConstantTimeCompare([]byte(digest(own)), []byte(t.Hash)) == 1
	return t, isToken && whole && known && same && !t.Ended(time.Now()), nil
}

// Used stores a use of a token, unless one is stored that is less than an hour older. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (ts *PingTokens) Used(ctx context.Context, id string, use PingUse) error {
	use.At = use.At.UTC().Truncate(time.Millisecond)
	isNews := func(t *PingToken) bool { return use.At.Sub(t.LastUse.At) >= pingUseNoted }
	if t, _, ok := ts.table.Get(id); ok && !isNews(&t) {
		return nil
	}
	return ts.edit(ctx, id, func(t *PingToken) bool {
		if !isNews(t) {
			return false
		}
		t.LastUse = use
		return true
	})
}

// Tidy removes the tokens that have ended at now, and those whose job was deleted more than 30 days ago. exists
// reports whether there is a job; its error ends Tidy. The other errors are job.ErrUnavailable.
func (ts *PingTokens) Tidy(ctx context.Context, now time.Time, exists func(context.Context, job.Name) (bool, error)) error {
	if err := ts.table.wait(ctx); err != nil {
		return err
	}
	now = now.UTC().Truncate(time.Millisecond)
	for _, f := range ts.table.Find(func(*PingToken) bool { return true }) {
		t := f.Value
		there, err := exists(ctx, t.Job)
		switch {
		case err != nil:
			return err
		case t.Ended(now), !there && !t.JobGoneAt.IsZero() && now.Sub(t.JobGoneAt) >= PingTokensKept:
			err = ts.table.remove(ctx, f.Key, f.Revision)
		case there == t.JobGoneAt.IsZero():
			continue
		default:
			err = ts.edit(ctx, f.Key, func(t *PingToken) bool {
				if t.JobGoneAt = now; there {
					t.JobGoneAt = time.Time{}
				}
				return true
			})
		}
		if err != nil && !errors.Is(err, job.ErrConflict) && !errors.Is(err, job.ErrNotFound) { // another server was faster
			return err
		}
	}
	return nil
}

// edit stores what change makes of a token, if it returns true. Errors: job.ErrNotFound, job.ErrUnavailable.
func (ts *PingTokens) edit(ctx context.Context, id string, change func(*PingToken) bool) error {
	var changed *PingToken
	revision, err := ts.table.records.Edit(ctx, id, func(t *PingToken, revision uint64) (bool, error) {
		if changed = nil; revision == 0 {
			return false, fmt.Errorf("%w: ping token %s", job.ErrNotFound, clip.Text(id, 64))
		}
		if !change(t) {
			return false, nil
		}
		changed = new(*t)
		return true, nil
	})
	if err == nil && changed != nil {
		ts.table.Put(id, *changed, revision)
	}
	return err
}

// base62 returns n random letters and digits.
func base62(n int) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	text, random := make([]byte, 0, n), make([]byte, n)
	for len(text) < n {
		_, _ = rand.Read(random) // it never fails
		for _, b := range random {
			if b &= 63; int(b) < len(alphabet) && len(text) < n {
				text = append(text, alphabet[b])
			}
		}
	}
	return string(text)
}
