package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// The first parts of the keys in the bucket ALERT.
const (
	keyRule     = "rule."
	keyChannel  = "channel."
	keySilence  = "silence."
	keyIncident = "incident." // the last of each subject of a rule
	keyPast     = "past."     // those before it, and tests
	keyTally    = "tally."
	keyPosition = cluster.KeyAlertPosition // its field events is read by [cluster.Conn.EventsAlerted]
	keySeeded   = "seeded"
)

// named says which record an error is about.
func named(key string) string {
	for prefix, what := range map[string]string{keyRule: "alert ", keyChannel: "channel ", keySilence: "silence ", keyPast: "incident "} {
		if len(key) > len(prefix) && key[:len(prefix)] == prefix {
			return what + key[len(prefix):]
		}
	}
	return "alert record " + key
}

func bucket(ctx context.Context, conn *cluster.Conn) (jetstream.KeyValue, error) {
	return conn.Bucket(ctx, bus.BucketAlert)
}

// read returns a record and its revision. The error is job.ErrNotFound when there is none.
func read[T any](ctx context.Context, conn *cluster.Conn, key string) (*T, uint64, error) {
	entry, err := conn.Entry(ctx, bus.BucketAlert, key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, fmt.Errorf("%w: %s", job.ErrNotFound, named(key))
	case err != nil:
		return nil, 0, fmt.Errorf("read %s: %w", named(key), err)
	}
	value := new(T)
	if err := json.Unmarshal(entry.Value(), value); err != nil {
		return nil, 0, fmt.Errorf("decode %s: %w", named(key), err)
	}
	return value, entry.Revision(), nil
}

// write stores a record in the place of the given revision, 0 for none. The error is
// job.ErrConflict when there is another.
func write(ctx context.Context, conn *cluster.Conn, key string, value any, revision uint64) (uint64, error) {
	kv, err := bucket(ctx, conn)
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", named(key), err)
	}
	var next uint64
	if revision == 0 {
		next, err = kv.Create(ctx, key, data)
	} else {
		next, err = kv.Update(ctx, key, data, revision)
	}
	switch {
	case err == nil:
		return next, nil
	case jet.LostRace(err) && revision == 0:
		return 0, fmt.Errorf("%w: %s exists already", job.ErrConflict, named(key))
	case jet.LostRace(err):
		return 0, fmt.Errorf("%w: %s was changed by somebody else just now", job.ErrConflict, named(key))
	}
	return 0, fmt.Errorf("write %s: %w", named(key), jet.Unavailable(err))
}

// remove deletes a record, if it is at the given revision; 0 is any.
func remove(ctx context.Context, conn *cluster.Conn, key string, revision uint64) error {
	kv, err := bucket(ctx, conn)
	if err != nil {
		return err
	}
	var opts []jetstream.KVDeleteOpt
	if revision != 0 {
		opts = append(opts, jetstream.LastRevision(revision))
	}
	err = kv.Purge(ctx, key, opts...)
	if jet.LostRace(err) {
		return fmt.Errorf("%w: %s was changed by somebody else just now", job.ErrConflict, named(key))
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", named(key), jet.Unavailable(err))
	}
	return nil
}

// all calls yield for each record under prefixes.
func all[T any](ctx context.Context, conn *cluster.Conn, yield func(key string, value *T, revision uint64), prefixes ...string) error {
	filters := make([]string, len(prefixes))
	for i, p := range prefixes {
		filters[i] = p + ">"
	}
	w, err := conn.WatchAlerts(ctx, filters...)
	if err != nil {
		return fmt.Errorf("list records of alerts: %w", err)
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e == nil {
			return nil
		}
		value := new(T)
		if e.Operation() == jetstream.KeyValuePut && json.Unmarshal(e.Value(), value) == nil {
			yield(e.Key(), value, e.Revision())
		}
	}
	return fmt.Errorf("%w: list records of alerts", job.ErrUnavailable)
}
