package jet

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// Mirror has the records of a kind in memory. It is safe for concurrent use. [FollowMirrors]
// loads it and keeps it up to date.
type Mirror[T any] struct {
	kind   *Kind[T]
	heard  func(*T)
	loaded chan struct{} // closed when all records that there were are in
	once   sync.Once

	mu      sync.RWMutex
	records map[string]mirrored[T]
}

// mirrored is a record, or with a nil value the fact that it was deleted: an older
// version that comes late must not bring it back.
type mirrored[T any] struct {
	value    *T
	revision uint64
}

// Mirror returns an empty mirror. heard, unless it is nil, is called with each change, nil for a
// deletion. It must not call the mirror, and must not change the record.
func (k *Kind[T]) Mirror(heard func(*T)) *Mirror[T] {
	return &Mirror[T]{kind: k, heard: heard, loaded: make(chan struct{}), records: map[string]mirrored[T]{}}
}

// Loaded returns a channel that is closed when the mirror has all records that the bucket had.
func (m *Mirror[T]) Loaded() <-chan struct{} { return m.loaded }

// Get returns a copy of a record and its revision, or false if there is none.
func (m *Mirror[T]) Get(key string) (value T, revision uint64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r := m.records[key]
	if r.value == nil {
		return value, 0, false
	}
	return *r.value, r.revision, true
}

// Find returns copies of the records that fit, in order of key. fits must not change them.
func (m *Mirror[T]) Find(fits func(*T) bool) (list []Record[T]) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for key, r := range m.records {
		if r.value != nil && fits(r.value) {
			list = append(list, Record[T]{key, *r.value, r.revision})
		}
	}
	slices.SortFunc(list, func(a, b Record[T]) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// Put notes a version of a record that this process has written, unless the mirror has a later one.
func (m *Mirror[T]) Put(key string, value T, revision uint64) { m.put(key, &value, revision) }

// Delete notes that this process has deleted a record.
func (m *Mirror[T]) Delete(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, known := m.records[key]; known {
		m.records[key] = mirrored[T]{nil, was.revision}
		m.tell(nil)
	}
}

// Forget drops the records that are over, and all deletions, so that memory does not grow with them.
// Call it once an hour or less often: what was written before a deletion must not come after Forget.
func (m *Mirror[T]) Forget(over func(*T) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range m.records {
		if r.value == nil || over(r.value) {
			delete(m.records, key)
		}
	}
}

func (m *Mirror[T]) put(key string, value *T, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, known := m.records[key]; known && was.revision >= revision {
		return
	}
	m.records[key] = mirrored[T]{value, revision}
	m.tell(value)
}

func (m *Mirror[T]) tell(value *T) {
	if m.heard != nil {
		m.heard(value)
	}
}

func (m *Mirror[T]) bucket() string { return m.kind.Bucket }

func (m *Mirror[T]) finish() { m.once.Do(func() { close(m.loaded) }) }

// apply notes an entry of the bucket, if it is a record of the mirror's kind. One that cannot be
// decoded counts as deleted.
func (m *Mirror[T]) apply(e jetstream.KeyValueEntry) error {
	key, ours := strings.CutPrefix(e.Key(), m.kind.Prefix)
	if !ours {
		return nil
	}
	if e.Operation() != jetstream.KeyValuePut {
		m.put(key, nil, e.Revision())
		return nil
	}
	value, err := m.kind.decode(key, e.Value())
	if err != nil {
		m.put(key, nil, e.Revision())
		return err
	}
	m.put(key, &value, e.Revision())
	return nil
}

// Mirrored is a [Mirror] of any kind.
type Mirrored interface {
	bucket() string
	apply(e jetstream.KeyValueEntry) error
	finish()
}

// rewatch is how long FollowMirrors waits after a watch has broken.
const rewatch = time.Second

// FollowMirrors loads mirrors of kinds in one bucket, by one watch, and keeps them up to date until ctx
// is done. log hears of interruptions, and of records that cannot be decoded.
func FollowMirrors(ctx context.Context, conn *Conn, log *slog.Logger, mirrors ...Mirrored) {
	bucket := mirrors[0].bucket()
	retry := time.NewTicker(rewatch)
	defer retry.Stop()
	for {
		err := followMirrors(ctx, conn, bucket, log, mirrors)
		if ctx.Err() != nil {
			return
		}
		log.WarnContext(ctx, "watch interrupted", "bucket", bucket, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
	}
}

// followMirrors is FollowMirrors for one watch, which outlives reconnects.
func followMirrors(ctx context.Context, conn *Conn, bucket string, log *slog.Logger, mirrors []Mirrored) error {
	w, err := conn.WatchAll(ctx, bucket)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		for _, m := range mirrors {
			if e == nil {
				m.finish()
			} else if err := m.apply(e); err != nil {
				log.WarnContext(ctx, "record cannot be read", "bucket", bucket, "key", e.Key(), "error", err)
			}
		}
	}
	return fmt.Errorf("%w: the watch on bucket %s ended", job.ErrUnavailable, bucket)
}
