package ping

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// storeEvery is how often uses of tokens are stored that are worth it, and tidyEvery how often tokens are removed
	// that have ended.
	storeEvery = time.Minute
	tidyEvery  = time.Hour
	// tellEvery is how often a dead letter tells that pings of a job are refused.
	tellEvery = 24 * time.Hour
	// storeLimit is how long it may take to store one.
	storeLimit = 5 * time.Second
)

// uses is what this server knows of the use of tokens, and of the pings that it has refused. It is safe for concurrent
// use.
type uses struct {
	mu      sync.Mutex
	last    map[string]auth.PingUse // by token
	refused map[job.Name]*api.PingsRefused
	told    map[job.Name]time.Time // when a refused ping of the job was last a dead letter
}

func newUses() uses {
	return uses{last: map[string]auth.PingUse{}, refused: map[job.Name]*api.PingsRefused{}, told: map[job.Name]time.Time{}}
}

func (u *uses) note(token string, use auth.PingUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last[token] = use
}

// refuse counts a refused ping, and reports whether it is the first of the job for a day.
func (u *uses) refuse(of job.Name, now time.Time, count func(*api.PingsRefused)) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.refused[of] == nil {
		u.refused[of] = &api.PingsRefused{}
	}
	count(u.refused[of])
	if last, told := u.told[of]; told && now.Sub(last) < tellEvery {
		return false
	}
	u.told[of] = now
	return true
}

// LastUse returns the last use of a token that is stored, or that this server knows of.
func (r *Receiver) LastUse(t *auth.PingToken) auth.PingUse {
	r.uses.mu.Lock()
	defer r.uses.mu.Unlock()
	if use, known := r.uses.last[t.ID]; known && use.At.After(t.LastUse.At) {
		return use
	}
	return t.LastUse
}

// Refused returns how many pings of a job this server has refused since it started.
func (r *Receiver) Refused(of job.Name) api.PingsRefused {
	r.uses.mu.Lock()
	defer r.uses.mu.Unlock()
	if c := r.uses.refused[of]; c != nil {
		return *c
	}
	return api.PingsRefused{}
}

// Run stores the last uses of tokens, each once an hour at most, and removes tokens that have ended, until ctx is
// done.
func (r *Receiver) Run(ctx context.Context) {
	store, tidy := time.NewTicker(storeEvery), time.NewTicker(tidyEvery)
	defer store.Stop()
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-store.C:
			r.storeUses(ctx)
		case now := <-tidy.C:
			if err := r.tokens.Tidy(ctx, now, r.exists); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "ping tokens not tidied", "error", err)
			}
		}
	}
}

// storeUses stores what is known of the use of tokens, and forgets tokens that are gone.
func (r *Receiver) storeUses(ctx context.Context) {
	r.uses.mu.Lock()
	last := maps.Clone(r.uses.last)
	r.uses.mu.Unlock()
	for token, use := range last {
		limited, cancel := context.WithTimeout(ctx, storeLimit)
		err := r.tokens.Used(limited, token, use)
		cancel()
		switch {
		case errors.Is(err, job.ErrNotFound):
			r.uses.mu.Lock()
			delete(r.uses.last, token)
			r.uses.mu.Unlock()
		case err != nil:
			r.log.DebugContext(ctx, "use of a ping token not stored", "error", err)
			return // the rest is stored next time
		}
	}
}

// exists reports whether there is a job. The error is job.ErrUnavailable if that is not known.
func (r *Receiver) exists(ctx context.Context, of job.Name) (bool, error) {
	_, err := r.jobs.Task(ctx, of)
	if errors.Is(err, job.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
