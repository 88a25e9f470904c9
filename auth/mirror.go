package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// mirror has the records of one kind in memory, by key without the kind.
type mirror[T any] struct {
	kind    string
	loaded  chan struct{} // closed when all that there was is in
	once    sync.Once
	changed chan struct{} // has a value when something changed that its reader has not heard of
	heard   func(*T)      // unless nil, is told each version that is taken in; nil is a deletion

	mu      sync.RWMutex
	records map[string]mirrored[T]
}

// mirrored is a record, or with a nil value the fact that it was deleted: an older
// version that comes late must not bring it back.
type mirrored[T any] struct {
	value    *T
	revision uint64
}

func newMirror[T any](kind string) *mirror[T] {
	return &mirror[T]{kind: kind, loaded: make(chan struct{}), changed: make(chan struct{}, 1), records: map[string]mirrored[T]{}}
}

func (m *mirror[T]) finish() { m.once.Do(func() { close(m.loaded) }) }

func (m *mirror[T]) take(e jetstream.KeyValueEntry) error {
	key, ours := strings.CutPrefix(e.Key(), m.kind)
	if !ours {
		return nil
	}
	if e.Operation() != jetstream.KeyValuePut {
		m.put(key, nil, e.Revision())
		return nil
	}
	value := new(T)
	if err := json.Unmarshal(e.Value(), value); err != nil {
		// What cannot be read gives no rights.
		m.put(key, nil, e.Revision())
		return fmt.Errorf("decode record: %w", err)
	}
	m.put(key, value, e.Revision())
	return nil
}

// put takes in a version, unless a later one is in. A nil value is a deletion.
func (m *mirror[T]) put(key string, value *T, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, known := m.records[key]; known && was.revision >= revision {
		return
	}
	m.records[key] = mirrored[T]{value, revision}
	m.tell(value)
}

func (m *mirror[T]) tell(value *T) {
	if m.heard != nil {
		m.heard(value)
	}
	select {
	case m.changed <- struct{}{}:
	default: // it has one already
	}
}

// gone takes in a deletion whose revision is not known.
func (m *mirror[T]) gone(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, known := m.records[key]; known {
		m.records[key] = mirrored[T]{nil, was.revision}
		m.tell(nil)
	}
}

// wait waits until the mirror is loaded.
func (m *mirror[T]) wait(ctx context.Context) error {
	select {
	case <-m.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: users are not loaded yet", job.ErrUnavailable)
	}
}

// isLoaded reports whether wait would return at once.
func (m *mirror[T]) isLoaded() bool {
	select {
	case <-m.loaded:
		return true
	default:
		return false
	}
}

// get returns a copy of a record and its revision, or false when there is none.
func (m *mirror[T]) get(key string) (value T, revision uint64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r := m.records[key]
	if r.value == nil {
		return value, 0, false
	}
	return *r.value, r.revision, true
}

// found is a record in a list.
type found[T any] struct {
	key      string
	value    T
	revision uint64
}

// all returns copies of the records that fit, in order of key.
func (m *mirror[T]) all(fits func(*T) bool) []found[T] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var list []found[T]
	for key, r := range m.records {
		if r.value != nil && fits(r.value) {
			list = append(list, found[T]{key, *r.value, r.revision})
		}
	}
	slices.SortFunc(list, func(a, b found[T]) int { return strings.Compare(a.key, b.key) })
	return list
}

// forget drops what is deleted and what fits, so that memory does not grow with what
// is long over.
func (m *mirror[T]) forget(fits func(*T) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range m.records {
		if r.value == nil || fits(r.value) {
			delete(m.records, key)
		}
	}
}
