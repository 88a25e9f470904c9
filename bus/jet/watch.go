package jet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// watcher follows keys of a bucket, as the watcher of the KV client does, which this
// is not because that one ends for good when JetStream refuses it a consumer during
// an election, may take ten seconds to notice that the server was restarted, and
// leaves a goroutine behind when it is stopped with updates unread.
type watcher struct {
	updates chan jetstream.KeyValueEntry
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// Updates returns the channel of entries. It is closed once the watch has ended:
// because of Stop, or because its context is done.
func (w *watcher) Updates() <-chan jetstream.KeyValueEntry { return w.updates }

// Stop ends the watch. Updates that have not been read are dropped.
func (w *watcher) Stop() error {
	w.cancel()
	w.done.Wait()
	return nil
}

// Watch follows the keys of a bucket that match one of filters. It gives the last
// entry of each key, or all entries if history is true, in the order in which they
// were written; then nil; then every change. After trouble it goes on where it was.
// With from above 0 it begins with all entries from that revision on.
// The error is job.ErrUnavailable when it cannot begin.
func (c *Conn) Watch(ctx context.Context, bucket string, filters []string, history bool, from uint64) (jetstream.KeyWatcher, error) {
	prefix := "$KV." + bucket + "."
	subjects := make([]string, len(filters))
	for i, f := range filters {
		subjects[i] = prefix + f
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{updates: make(chan jetstream.KeyValueEntry, 256), cancel: cancel}
	send := func(e jetstream.KeyValueEntry) {
		select {
		case w.updates <- e:
		case <-ctx.Done():
		}
	}
	f := &follower{
		conn: c, stream: "KV_" + bucket, filters: subjects, deliver: jetstream.DeliverLastPerSubjectPolicy, from: from,
		yield:  func(m *Stored) { send(entryOf(bucket, prefix, m)) },
		caught: func() { send(nil) },
	}
	if history {
		f.deliver = jetstream.DeliverAllPolicy
	}
	first, err := f.open(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	w.done.Go(func() {
		defer cancel()
		defer close(w.updates)
		f.goOn(ctx, first, nil)
	})
	return w, nil
}

// Entries calls yield with what a bucket has now of the keys that match filter: the last entry of
// each key, or all entries if history is true, in the order in which they were written. It ends
// with the first error of yield, or job.ErrUnavailable.
func (c *Conn) Entries(ctx context.Context, bucket, filter string, history bool, yield func(jetstream.KeyValueEntry) error) error {
	w, err := c.Watch(ctx, bucket, []string{filter}, history, 0)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e == nil {
			return nil
		}
		if err := yield(e); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: read bucket %s", job.ErrUnavailable, bucket)
}

// ReadKeys calls yield with all entries of the keys that match filter, from a revision on,
// in the order in which they were written, until the bucket's leader, which must know of
// revision known, has no more. It makes no consumer. Errors: job.ErrUnavailable.
func (c *Conn) ReadKeys(ctx context.Context, bucket, filter string, from, known uint64, yield func(jetstream.KeyValueEntry)) error {
	prefix := "$KV." + bucket + "."
	subjects := prefix + filter
	if filter == ">" {
		subjects = ">" // the same; of this one the server knows that it need not look
	}
	return streamReader{c, "KV_" + bucket}.all(ctx, subjects, from, known, func(m *Stored) { yield(entryOf(bucket, prefix, m)) })
}

// entry is what a message of a bucket's stream says about a key.
type entry struct {
	*Stored
	bucket, key string
	op          jetstream.KeyValueOp
}

func entryOf(bucket, prefix string, m *Stored) *entry {
	e := &entry{Stored: m, bucket: bucket, key: strings.TrimPrefix(m.Subject, prefix), op: jetstream.KeyValuePut}
	switch {
	case m.Header.Get("KV-Operation") == "DEL", m.Header.Get("Nats-Marker-Reason") == "Remove":
		e.op = jetstream.KeyValueDelete
	case m.Header.Get("KV-Operation") == "PURGE", m.Header.Get("Nats-Marker-Reason") != "": // the key's time was over
		e.op = jetstream.KeyValuePurge
	}
	return e
}

func (e *entry) Bucket() string                  { return e.bucket }
func (e *entry) Key() string                     { return e.key }
func (e *entry) Value() []byte                   { return e.Data }
func (e *entry) Revision() uint64                { return e.Seq }
func (e *entry) Created() time.Time              { return e.At }
func (e *entry) Delta() uint64                   { return 0 } // not kept
func (e *entry) Operation() jetstream.KeyValueOp { return e.op }

// WatchAll follows all keys of a bucket: what there is, a nil entry, then every change.
func (c *Conn) WatchAll(ctx context.Context, bucket string) (jetstream.KeyWatcher, error) {
	return c.Watch(ctx, bucket, []string{">"}, false, 0)
}
