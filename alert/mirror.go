package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// mirror has the bucket ALERT in memory. It is safe for concurrent use; what it gives out
// must not be changed.
type mirror struct {
	loaded  chan struct{}
	changed chan struct{} // has an entry when something has changed since it was taken out

	mu        sync.Mutex
	rules     map[string]*alerting.Rule
	channels  map[string]*Entry[alerting.Channel]
	silences  map[string]*alerting.Silence
	incidents map[string]*alerting.Incident // by key
	tallies   map[string]*tally
	revisions map[string]uint64 // by key: what comes late must not undo what is known
}

func newMirror() *mirror {
	return &mirror{
		loaded: make(chan struct{}), changed: make(chan struct{}, 1),
		rules: map[string]*alerting.Rule{}, channels: map[string]*Entry[alerting.Channel]{}, silences: map[string]*alerting.Silence{},
		incidents: map[string]*alerting.Incident{}, tallies: map[string]*tally{}, revisions: map[string]uint64{},
	}
}

// follow keeps the mirror up to date until ctx is done.
func (s *mirror) follow(ctx context.Context, conn *cluster.Conn) error {
	w, err := conn.WatchAlerts(ctx, ">")
	if err != nil {
		return fmt.Errorf("follow alerts: %w", err)
	}
	defer func() { _ = w.Stop() }()
	loaded := false
	for e := range w.Updates() {
		switch {
		case e != nil:
			s.take(e)
			s.wake()
		case !loaded:
			loaded = true
			close(s.loaded)
		}
	}
	return nil
}

func (s *mirror) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// take takes in an entry. What cannot be read counts as gone.
func (s *mirror) take(e jetstream.KeyValueEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := e.Key()
	if s.revisions[key] >= e.Revision() {
		return
	}
	s.revisions[key] = e.Revision()
	gone := e.Operation() != jetstream.KeyValuePut
	read := func(into any) bool { return !gone && json.Unmarshal(e.Value(), into) == nil }
	kind, name, _ := strings.Cut(key, ".")
	switch kind + "." {
	case keyRule:
		entry := &Entry[alerting.Rule]{}
		there := read(entry)
		entry.Doc.Since = entry.CreatedAt
		set(s.rules, name, &entry.Doc, there)
	case keyChannel:
		entry := &Entry[alerting.Channel]{}
		set(s.channels, name, entry, read(entry))
	case keySilence:
		silence := &alerting.Silence{}
		set(s.silences, name, silence, read(silence))
	case keyIncident, keyPast:
		inc := &alerting.Incident{}
		set(s.incidents, key, inc, read(inc))
	case keyTally:
		t := &tally{}
		set(s.tallies, key, t, read(t))
	}
}

func set[T any](m map[string]*T, key string, value *T, there bool) {
	if there {
		m[key] = value
	} else {
		delete(m, key)
	}
}

// put takes in an incident that this process has written.
func (s *mirror) put(key string, inc *alerting.Incident, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revisions[key] < revision {
		s.revisions[key], s.incidents[key] = revision, inc
	}
}

// active returns the rules that are not disabled, by name.
func (s *mirror) active() []*alerting.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*alerting.Rule
	for _, name := range sortedKeys(s.rules) {
		if r := s.rules[name]; !r.Disabled {
			list = append(list, r)
		}
	}
	return list
}

// ofRuns returns the active rules that are about runs.
func (s *mirror) ofRuns() []*alerting.Rule {
	return slices.DeleteFunc(s.active(), func(r *alerting.Rule) bool { return !r.When.OfRuns() })
}

func (s *mirror) channel(name string) *Entry[alerting.Channel] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.channels[name]
}

// incident returns the incident at a key, or nil.
func (s *mirror) incident(key string) *alerting.Incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incidents[key]
}

// find returns the keys of the incidents that fit, in order.
func (s *mirror) find(fits func(*alerting.Incident) bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key, inc := range s.incidents {
		if fits(inc) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// silenced returns until when an incident is silenced, and by whom; zero when it is not.
func (s *mirror) silenced(inc *alerting.Incident, now time.Time) (until time.Time, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range sortedKeys(s.silences) {
		if q := s.silences[id]; q.Until.After(now) && q.Until.After(until) && q.Fits(inc) {
			until, by = q.Until, q.By
		}
	}
	return until, by
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
