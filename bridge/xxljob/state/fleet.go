package state

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// RenewEvery is how often a bridge says that it lives.
	RenewEvery = 1500 * time.Millisecond
	// DeadAfter is how long nothing was heard of a bridge that is taken for dead. It must be well below the time for which heartbeats and triggers
	// last, so that another one has taken its instances over before anybody misses them.
	DeadAfter = 6 * time.Second
	// Registered is how long an executor counts as there after it registered, by XXL-JOB's own rule.
	Registered = 90 * time.Second

	bridgeFor = time.Minute // how long what a bridge said is kept
)

// Bridge is a bridge that lives and serves a group.
type Bridge struct {
	ID    string `json:"id"`
	Group string `json:"group"`
}

// Instance is an executor of XXL-JOB, as the instance of a group.
type Instance struct {
	Group    string       `json:"group"`
	Instance string       `json:"instance"`
	AppName  string       `json:"app_name"`
	Address  string       `json:"address"`
	Secret   string       `json:"secret"` // of the subjects of requests to it
	Dialect  wire.Dialect `json:"dialect,omitempty"`
	// Old says that it reports results as versions before 2.3 do.
	Old bool `json:"old,omitempty"`
	// SaysBusy means that its executor once reported a job as busy. Not all executors do.
	SaysBusy bool      `json:"says_busy,omitempty"`
	Since    time.Time `json:"since"`

	// Holder is the bridge that serves it; "" is none.
	Holder string `json:"holder,omitempty"`
	// Offline says that it has no runs and is not to be served until it can be reached. Why is the
	// reason, if that is that it could not be.
	Offline bool   `json:"offline,omitempty"`
	Why     string `json:"why,omitempty"`

	// What people have asked for.
	Cordoned bool       `json:"cordoned,omitempty"`
	Drained  bool       `json:"drained,omitempty"` // it has left, until it registers again
	Slots    int        `json:"slots,omitempty"`
	Labels   job.Labels `json:"labels,omitempty"`
}

// Key returns the group and the name, which together tell the instance from all others.
func (i *Instance) Key() string { return i.Group + "." + i.Instance }

// Control returns where the instance takes requests.
func (i *Instance) Control() bus.Address { return bus.NewAddress(i.Group, i.Instance, i.Secret) }

// Beat says that an executor has registered.
type Beat struct {
	Group    string `json:"group"`
	Instance string `json:"instance"`
	AppName  string `json:"app_name"`
	Address  string `json:"address"`
	// Dialect is what its call says of it, mostly nothing.
	Dialect wire.Dialect `json:"dialect,omitempty"`
	// Removed says that it has left.
	Removed bool `json:"removed,omitempty"`
}

// Key is that of the instance.
func (b *Beat) Key() string { return b.Group + "." + b.Instance }

// Of these the keys of the fleet consist, after the group.
const (
	keyBridge = "fleet.bridge."
	keyInst   = "fleet.inst."
	keyBeat   = "fleet.beat."
)

// keyOf returns the whole key of what belongs to a group.
func keyOf(group, key string) string { return group + "." + key }

func instanceKey(group, instance string) string { return keyOf(group, keyInst+instance) }

// PutBridge says that a bridge lives.
func (s *Store) PutBridge(ctx context.Context, b Bridge) error {
	_, err := s.put(ctx, keyOf(b.Group, keyBridge+b.ID), b, bridgeFor, condition{revision: anyRevision})
	return err
}

// RemoveBridge says that a bridge has ended.
func (s *Store) RemoveBridge(b Bridge) error { return s.remove(keyOf(b.Group, keyBridge+b.ID)) }

// PutBeat stores that an executor has registered, or left.
func (s *Store) PutBeat(ctx context.Context, b Beat) error {
	_, err := s.put(ctx, keyOf(b.Group, keyBeat+b.Instance), b, Registered, condition{revision: anyRevision})
	return err
}

// PutInstance stores an instance in the place of the one at a revision, 0 for none, and returns its
// new one. The error is job.ErrConflict if another bridge has changed it.
func (s *Store) PutInstance(ctx context.Context, i *Instance, revision uint64) (uint64, error) {
	return s.put(ctx, instanceKey(i.Group, i.Instance), i, 0, condition{revision: int64(revision)}) //nolint:gosec // a sequence
}

// RemoveInstance forgets an instance that is stored at a revision. The error is job.ErrConflict if another
// bridge has changed it.
func (s *Store) RemoveInstance(ctx context.Context, group, instance string, revision uint64) error {
	m := &nats.Msg{Subject: prefix + instanceKey(group, instance), Header: nats.Header{"KV-Operation": {"DEL"}}}
	_, err := s.publish(ctx, m, bridgeFor, condition{revision: int64(revision)}) //nolint:gosec // a sequence
	return err
}

// Instance returns an instance and its revision. A replica that lags behind may answer.
func (s *Store) Instance(ctx context.Context, group, instance string) (*Instance, uint64, error) {
	i := &Instance{}
	revision, err := s.get(ctx, instanceKey(group, instance), i)
	return i, revision, err
}

// Change is news of the fleet: exactly one of its first three is set, or Gone or Removed is.
type Change struct {
	Bridge   *Bridge
	Beat     *Beat
	Instance *Instance
	Revision uint64
	Gone     Bridge // one that has ended
	Removed  string // the key of an instance that is forgotten
}

// Tail reads changes of bridges, beats and instances. It is for one goroutine at a time.
type Tail struct {
	s    *Store
	next map[string]uint64 // by group
}

// Tail returns a tail that begins with all present entries.
func (s *Store) Tail() *Tail { return &Tail{s: s, next: map[string]uint64{}} }

// Poll calls yield with each change since the last call. Changes that a lagging replica does not have
// yet follow at a later call. The error is job.ErrUnavailable.
func (t *Tail) Poll(ctx context.Context, yield func(Change)) error {
	for _, group := range t.s.scanned() {
		err := t.s.scan(ctx, group, "fleet.>", t.next[group]+1, func(e entry) {
			t.next[group] = max(t.next[group], e.sequence)
			if c, ok := changeOf(e); ok {
				yield(c)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changeOf decodes an entry. It returns false if the entry is unreadable, or if its value names another
// group or name than its key.
func changeOf(e entry) (Change, bool) {
	c := Change{Revision: e.sequence}
	if id, ok := strings.CutPrefix(e.key, keyBridge); ok {
		if e.removed {
			c.Gone = Bridge{ID: id, Group: e.group}
			return c, true
		}
		c.Bridge = &Bridge{}
		return c, json.Unmarshal(e.value, c.Bridge) == nil && *c.Bridge == Bridge{ID: id, Group: e.group}
	}
	if instance, ok := strings.CutPrefix(e.key, keyInst); ok {
		key := e.group + "." + instance
		if e.removed {
			c.Removed = key
			return c, true
		}
		c.Instance = &Instance{}
		return c, json.Unmarshal(e.value, c.Instance) == nil && c.Instance.Group == e.group && c.Instance.Key() == key && isAddress(c.Instance.Address)
	}
	if instance, ok := strings.CutPrefix(e.key, keyBeat); ok && !e.removed {
		c.Beat = &Beat{}
		return c, json.Unmarshal(e.value, c.Beat) == nil && c.Beat.Group == e.group && c.Beat.Instance == instance && isAddress(c.Beat.Address)
	}
	return c, false
}

// isAddress reports whether a bridge would have stored the address: others can write here, too.
func isAddress(text string) bool {
	clean, err := wire.CleanAddress(text)
	return err == nil && clean == text
}
