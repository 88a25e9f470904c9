package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// How long a lease lasts, how often its holder renews it, and how much earlier than
// its end the holder stops to believe it.
const (
	LeaseTTL    = 5 * time.Second
	LeaseRenew  = 1500 * time.Millisecond
	LeaseMargin = 500 * time.Millisecond
)

// Lease is what a key of the LEASE bucket says: who holds it.
type Lease struct {
	Node string `json:"node"`
	// Since is when it was acquired, by its holder's clock. It is for people.
	Since time.Time `json:"since,omitzero"`
	// Info is for people: the node's address and version.
	Info json.RawMessage `json:"info,omitempty"`
	// Token is the holder's own: a process that comes back to life must not take
	// its successor of the same name for itself.
	Token string `json:"token"`
}

// Held is a lease that this process holds. It is safe for concurrent use.
//
// A lease only avoids wasted work: what its holder does must be safe when another
// believes to hold it too.
type Held struct {
	conn *Conn
	kv   jetstream.KeyValue
	key  string
	// Epoch grows with each holder of the key.
	Epoch uint64

	mu       sync.Mutex
	lease    Lease
	revision uint64 // 0: released
	// until counts from before the request was sent. It is a time.Time, which has a
	// monotonic reading: a wall clock that steps must not make a lease last longer.
	until atomic.Value
}

// AcquireLease takes the lease on key for node, if nobody holds it. The error is
// job.ErrConflict when somebody does. It may take a moment longer than ctx: a lease
// that was acquired for nobody would keep others away until it ends.
func (c *Conn) AcquireLease(ctx context.Context, key, node string, info any) (*Held, error) {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaseRenew)
	defer cancel()
	h, err := acquireLease(asking, c, key, node, info)
	if err == nil && ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), h.Release(asking))
	}
	return h, err
}

func acquireLease(ctx context.Context, c *Conn, key, node string, info any) (*Held, error) {
	kv, err := c.Bucket(ctx, bus.BucketLease)
	if err != nil {
		return nil, err
	}
	extra, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("encode lease %s: %w", key, err)
	}
	lease := Lease{Node: node, Since: time.Now().UTC().Truncate(time.Millisecond), Info: extra, Token: nuid.Next()}
	value, err := json.Marshal(lease)
	if err != nil {
		return nil, fmt.Errorf("encode lease %s: %w", key, err)
	}
	asked := time.Now()
	rev, err := kv.Create(ctx, key, value, jetstream.KeyTTL(LeaseTTL))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("%w: lease %s is held", job.ErrConflict, key)
	}
	if err != nil {
		return nil, fmt.Errorf("acquire lease %s: %w", key, Unavailable(err))
	}
	h := &Held{conn: c, kv: kv, key: key, lease: lease, Epoch: rev, revision: rev}
	h.until.Store(asked.Add(LeaseTTL - LeaseMargin))
	return h, nil
}

// Valid reports whether the holder may believe in the lease at now.
func (h *Held) Valid(now time.Time) bool { return now.Before(h.Until()) }

// Until returns when the holder stops to believe in the lease.
func (h *Held) Until() time.Time { return h.until.Load().(time.Time) } //nolint:forcetypeassert // nothing else is stored

// Renew makes the lease last from now on. Errors: job.ErrStale when somebody else
// has it, or it ended; anything else leaves it as it was, and Renew may be tried
// again while it is valid.
func (h *Held) Renew(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revision == 0 {
		return fmt.Errorf("%w: lease %s was released", job.ErrStale, h.key)
	}
	err := h.renewLocked(ctx)
	if !LostRace(err) {
		return err
	}
	// Perhaps an earlier renewal did arrive, though its answer did not.
	if err := h.rereadLocked(ctx); err != nil {
		return err
	}
	return h.renewLocked(ctx)
}

func (h *Held) renewLocked(ctx context.Context) error {
	value, err := json.Marshal(h.lease)
	if err != nil {
		return fmt.Errorf("encode lease %s: %w", h.key, err)
	}
	asked := time.Now()
	// Update of the KV client would drop the TTL.
	m := nats.NewMsg("$KV." + bus.BucketLease + "." + h.key)
	m.Data = value
	m.Header.Set("Nats-TTL", LeaseTTL.String())
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(h.revision, 10))
	ack, err := h.conn.JS.PublishMsg(ctx, m)
	if err != nil {
		return fmt.Errorf("renew lease %s: %w", h.key, Unavailable(err))
	}
	h.revision = ack.Sequence
	h.until.Store(asked.Add(LeaseTTL - LeaseMargin))
	return nil
}

// rereadLocked takes in the lease's revision, if it is still ours.
func (h *Held) rereadLocked(ctx context.Context) error {
	e, err := h.conn.Entry(ctx, bus.BucketLease, h.key)
	if err == nil {
		var is Lease
		if json.Unmarshal(e.Value(), &is) == nil && is.Token == h.lease.Token {
			h.revision = e.Revision()
			return nil
		}
	}
	if err == nil || errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: lease %s was lost", job.ErrStale, h.key)
	}
	return fmt.Errorf("read lease %s: %w", h.key, err)
}

// SetInfo replaces what the lease says of its holder, from the next renewal on.
func (h *Held) SetInfo(info any) error {
	extra, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode lease %s: %w", h.key, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease.Info = extra
	return nil
}

// Release gives the lease back, so that others need not wait for its end. It is not
// valid any more, even if that does not work out. Release does nothing when somebody
// else holds the lease.
func (h *Held) Release(ctx context.Context) error {
	h.until.Store(time.Time{})
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.revision = 0 }()
	err := h.deleteLocked(ctx)
	if WrongLast(err) {
		if err = h.rereadLocked(ctx); err == nil {
			err = h.deleteLocked(ctx)
		}
	}
	if err == nil || WrongLast(err) || errors.Is(err, job.ErrStale) {
		return nil
	}
	return fmt.Errorf("release lease %s: %w", h.key, Unavailable(err))
}

func (h *Held) deleteLocked(ctx context.Context) error {
	if h.revision == 0 {
		return nil
	}
	return AfterOthers(ctx, func(ctx context.Context) error { // a renewal that was given up may be in flight
		return h.kv.Delete(ctx, h.key, jetstream.LastRevision(h.revision))
	})
}

// WatchLeases follows all leases: what there is, a nil entry, then every change. The
// end of a lease may go untold when the connection is cut for a minute or more: what
// is not heard of for longer than LeaseTTL has ended.
func (c *Conn) WatchLeases(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.WatchAll(ctx, bus.BucketLease)
}
