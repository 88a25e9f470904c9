package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// Store is what the API reads and writes of alerts. It is safe for concurrent use.
//
// Errors of its methods: *job.InvalidError, job.ErrNotFound, job.ErrConflict when a
// condition of an edit does not hold, job.ErrUnavailable.
type Store struct {
	conn    *cluster.Conn
	records records
}

// NewStore returns the book on conn.
func NewStore(conn *cluster.Conn) *Store { return &Store{conn, recordsOn(conn.Conn)} }

// Entry is a document as it was saved.
type Entry[T any] struct {
	Doc       T                 `json:"doc"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
	Author    string            `json:"author,omitempty"`
	Sealed    map[string][]byte `json:"sealed,omitempty"` // secrets of a channel, by name
	Revision  uint64            `json:"-"`
}

// Rules returns all rules, by name.
func (b *Store) Rules(ctx context.Context) ([]Entry[alerting.Rule], error) {
	return entries(ctx, b.records.rules)
}

// Rule returns a rule.
func (b *Store) Rule(ctx context.Context, name string) (*Entry[alerting.Rule], error) {
	return entryAt(ctx, b.records.rules, name)
}

// PutRule creates or replaces a rule, whose channels must exist. It returns it before the
// edit too, nil for a new one, and whether it was changed at all.
func (b *Store) PutRule(ctx context.Context, d alerting.RuleDocument, e cluster.Edit) (was, now *Entry[alerting.Rule], changed bool, err error) {
	if d, err = b.CheckRule(ctx, d); err != nil {
		return nil, nil, false, err
	}
	return put(ctx, b.records.rules, d.Alert, d.Over, e)
}

// CheckRule returns a rule as it would be saved. planned names channels that will be saved before it.
// The error is an *InvalidError if it cannot be saved.
func (b *Store) CheckRule(ctx context.Context, d alerting.RuleDocument, planned ...string) (alerting.RuleDocument, error) {
	d.Rule = d.WithDefaults()
	if err := d.Validate(); err != nil {
		return d, err
	}
	for i, name := range d.Channels {
		if slices.Contains(planned, name) {
			continue
		}
		if _, err := b.Channel(ctx, name); errors.Is(err, job.ErrNotFound) {
			return d, job.Invalid(fmt.Sprintf("channels[%d]", i), "%q is not a channel; make it first", name)
		} else if err != nil {
			return d, err
		}
	}
	return d, nil
}

// DeleteRule deletes a rule. Its open incidents are resolved by that.
func (b *Store) DeleteRule(ctx context.Context, name string, e cluster.Edit) error {
	return remove(ctx, b.records.rules, name, e)
}

// Channels returns all channels, by name.
func (b *Store) Channels(ctx context.Context) ([]Entry[alerting.Channel], error) {
	return entries(ctx, b.records.channels)
}

// Channel returns a channel.
func (b *Store) Channel(ctx context.Context, name string) (*Entry[alerting.Channel], error) {
	return entryAt(ctx, b.records.channels, name)
}

// PutChannel creates or replaces a channel, as PutRule does a rule. It keeps its secrets,
// unless it is of another kind than before.
func (b *Store) PutChannel(ctx context.Context, d alerting.ChannelDocument, e cluster.Edit) (was, now *Entry[alerting.Channel], changed bool, err error) {
	d.Channel = d.WithDefaults()
	if err := d.Validate(); err != nil {
		return nil, nil, false, err
	}
	return put(ctx, b.records.channels, d.Channel.Channel, d.Over, e)
}

// DeleteChannel deletes a channel, unless a rule uses it.
func (b *Store) DeleteChannel(ctx context.Context, name string, e cluster.Edit) error {
	rules, err := b.Rules(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if slices.Contains(r.Doc.Channels, name) {
			return fmt.Errorf("%w: channel %s is used by alert %s", job.ErrConflict, name, r.Doc.Alert)
		}
	}
	return remove(ctx, b.records.channels, name, e)
}

// Health returns whether messages get through, by channel. It is what the incidents of the last
// 30 days say.
func (b *Store) Health(ctx context.Context) (map[string]alerting.Health, error) {
	incidents, err := b.Incidents(ctx, func(*alerting.Incident) bool { return true })
	return alerting.HealthOf(incidents), err
}

// keyOf returns the key that seals the secrets of channels. Its name cannot be that of an
// executor group, whose executors would have it.
func keyOf(m *seal.Master) *seal.Key { return m.Group(".alert") }

// SetSecret sets a secret of a channel; an empty value removes it.
func (b *Store) SetSecret(ctx context.Context, m *seal.Master, channel, name, value string, e cluster.Edit) (*Entry[alerting.Channel], error) {
	for {
		entry, err := b.Channel(ctx, channel)
		if err != nil {
			return nil, err
		}
		if value == "" {
			if len(entry.Sealed[name]) == 0 {
				return nil, fmt.Errorf("%w: channel %s has no secret %s", job.ErrNotFound, channel, name)
			}
			delete(entry.Sealed, name)
		} else {
			if err := entry.Doc.CheckSecret(name, value); err != nil {
				return nil, err
			}
			if entry.Sealed == nil {
				entry.Sealed = map[string][]byte{}
			}
			entry.Sealed[name] = keyOf(m).Seal(channel+"/"+name, value)
		}
		entry.UpdatedAt, entry.Author = stamp(e.At), e.Author
		next, err := b.records.channels.Write(ctx, channel, *entry, entry.Revision)
		if errors.Is(err, job.ErrConflict) {
			continue
		}
		entry.Revision = next
		return entry, err
	}
}

// Test has a message sent to a channel, and returns the incident that tells of it.
func (b *Store) Test(ctx context.Context, channel, by string) (*alerting.Incident, error) {
	if _, err := b.Channel(ctx, channel); err != nil {
		return nil, err
	}
	inc := alerting.NewTest(channel, by, stamp(time.Now()))
	_, err := b.records.past.Write(ctx, inc.ID, *inc, 0)
	return inc, err
}

// AddReport has the mail of a month sent, unless it was before. Many may call it: only the first one of a
// month of a channel counts.
func (b *Store) AddReport(ctx context.Context, inc *alerting.Incident) error {
	_, err := b.records.past.Write(ctx, inc.ID, *inc, 0)
	if errors.Is(err, job.ErrConflict) {
		return nil
	}
	return err
}

// Tested waits until the delivery of a test has its outcome or ctx is done, and returns
// the incident as it is then.
func (b *Store) Tested(ctx context.Context, id string) (*alerting.Incident, error) {
	w, err := b.conn.Watch(ctx, bus.BucketAlert, []string{keyPast + id}, false, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Stop() }()
	var last *alerting.Incident
	for e := range w.Updates() {
		if e == nil {
			continue
		}
		inc := &alerting.Incident{}
		if err := json.Unmarshal(e.Value(), inc); err != nil {
			break // it was deleted
		}
		if last = inc; !slices.ContainsFunc(inc.Deliveries, func(d alerting.Delivery) bool { return d.State == alerting.Waiting }) {
			return last, nil
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%w: incident %s", job.ErrNotFound, id)
	}
	return last, nil
}

// Incidents returns all incidents that fit, the newest first. Those that ended 30 days ago
// are gone.
func (b *Store) Incidents(ctx context.Context, fits func(*alerting.Incident) bool) ([]alerting.Incident, error) {
	list := []alerting.Incident{}
	open, err := b.records.incidents.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list incidents: %w", err)
	}
	past, err := b.records.past.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list incidents: %w", err)
	}
	for _, r := range append(open, past...) {
		if fits(&r.Value) {
			list = append(list, r.Value)
		}
	}
	slices.SortFunc(list, func(a, b alerting.Incident) int { return strings.Compare(b.ID, a.ID) })
	return slices.CompactFunc(list, func(a, b alerting.Incident) bool { return a.ID == b.ID }), nil
}

// Incident returns an incident.
func (b *Store) Incident(ctx context.Context, id string) (*alerting.Incident, error) {
	list, err := b.Incidents(ctx, func(inc *alerting.Incident) bool { return inc.ID == id })
	if err == nil && len(list) == 0 {
		return nil, fmt.Errorf("%w: incident %s", job.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// EditIncident changes an incident that is open, and returns it. The error is
// job.ErrConflict when it is over.
func (b *Store) EditIncident(ctx context.Context, id string, change func(*alerting.Incident)) (*alerting.Incident, error) {
	inc, err := b.Incident(ctx, id)
	if err != nil {
		return nil, err
	}
	_, err = b.records.incidents.Edit(ctx, alerting.HashOf(inc.Rule, inc.Subject), func(stored *alerting.Incident, _ uint64) (bool, error) {
		if stored.ID != id || stored.State != alerting.Open {
			return false, fmt.Errorf("%w: incident %s is over", job.ErrConflict, id)
		}
		change(stored)
		inc = stored
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return inc, nil
}

// Silences returns those that have not ended, the one that ends first first.
func (b *Store) Silences(ctx context.Context, now time.Time) ([]alerting.Silence, error) {
	list := []alerting.Silence{}
	silences, err := b.records.silences.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list silences: %w", err)
	}
	for _, s := range silences {
		if s.Value.Until.After(now) {
			list = append(list, s.Value)
		}
	}
	slices.SortFunc(list, func(a, b alerting.Silence) int { return a.Until.Compare(b.Until) })
	return list, nil
}

// AddSilence stores a silence.
func (b *Store) AddSilence(ctx context.Context, s *alerting.Silence) error {
	_, err := b.records.silences.Write(ctx, s.ID, *s, 0)
	return err
}

// EndSilence ends a silence.
func (b *Store) EndSilence(ctx context.Context, id string) error {
	if _, _, err := b.records.silences.Read(ctx, id); err != nil {
		return err
	}
	return b.records.silences.Remove(ctx, id, 0)
}

// entries returns all documents of a kind, by name.
func entries[T any](ctx context.Context, records jet.Records[Entry[T]]) ([]Entry[T], error) {
	all, err := records.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list records of alerts: %w", err)
	}
	list := make([]Entry[T], len(all))
	for i, r := range all {
		list[i] = r.Value
		list[i].Revision = r.Revision
	}
	return list, nil
}

func entryAt[T any](ctx context.Context, records jet.Records[Entry[T]], name string) (*Entry[T], error) {
	e, revision, err := records.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	e.Revision = revision
	return &e, nil
}

// put stores on the edit's condition the document that over returns for the one before, nil for a new one.
func put[T any](ctx context.Context, records jet.Records[Entry[T]], name string, over func(was *T) T, e cluster.Edit) (was, now *Entry[T], changed bool, err error) {
	now = &Entry[T]{}
	now.Revision, err = records.Edit(ctx, name, func(stored *Entry[T], revision uint64) (bool, error) {
		was = nil
		*now = Entry[T]{CreatedAt: stamp(e.At), UpdatedAt: stamp(e.At), Author: e.Author}
		if revision == 0 {
			now.Doc = over(nil)
		} else {
			old := *stored
			old.Revision, was = revision, &old
			now.Doc, now.CreatedAt = over(&was.Doc), was.CreatedAt
			now.Sealed = keptSecrets(any(&was.Doc), any(&now.Doc), was.Sealed)
		}
		if err := e.Check(records.Name(name), was != nil, revision); err != nil {
			return false, err
		}
		changed = was == nil || !sameJSON(was.Doc, now.Doc)
		*stored = *now
		return changed, nil
	})
	if err != nil {
		return nil, nil, false, err
	}
	if !changed {
		now = was
	}
	return was, now, changed, nil
}

// keptSecrets returns what a channel keeps of its secrets when it is edited: those of
// another kind would go to a place that they were not meant for.
func keptSecrets(was, now any, sealed map[string][]byte) map[string][]byte {
	a, ok := was.(*alerting.Channel)
	b, ok2 := now.(*alerting.Channel)
	if !ok || !ok2 || a.Kind != b.Kind {
		return nil
	}
	if a.Email != nil && b.Email != nil && a.Email.Host != b.Email.Host || a.URL != b.URL {
		return nil // nor may whoever can edit a channel send its password elsewhere
	}
	return sealed
}

// remove deletes a document on the edit's condition.
func remove[T any](ctx context.Context, records jet.Records[Entry[T]], name string, e cluster.Edit) error {
	revision, err := records.Revision(ctx, name) // one that is damaged can be deleted, too
	if err != nil {
		return err
	}
	if err := e.Check(records.Name(name), true, revision); err != nil {
		return err
	}
	return records.Remove(ctx, name, revision)
}

func stamp(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
