package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// notes returns records of a kind whose bucket the test makes.
func (w *world) notes(ttl time.Duration) jet.Records[string] {
	w.t.Helper()
	_, err := w.conn.JS.CreateOrUpdateKeyValue(w.t.Context(), jetstream.KeyValueConfig{Bucket: "NOTES", LimitMarkerTTL: time.Minute})
	if err != nil {
		w.t.Fatal(err)
	}
	kind := &jet.Kind[string]{Bucket: "NOTES", Prefix: "note.", TTL: ttl, Name: func(key string) string { return "note " + key }}
	return kind.On(w.conn.Conn)
}

// NATS forgets in a crash that a value was replaced. So what has replaced it must be kept for as long.
func TestWhatReplacesARecordOutlivesIt(t *testing.T) {
	replace := map[string]func(ctx context.Context, r jet.Records[string], key string, revision uint64) error{
		"written": func(ctx context.Context, r jet.Records[string], key string, revision uint64) error {
			_, err := r.Write(ctx, key, "new", revision)
			return err
		},
		"put": func(ctx context.Context, r jet.Records[string], key string, _ uint64) error {
			_, err := r.Put(ctx, key, "new")
			return err
		},
		"edited": func(ctx context.Context, r jet.Records[string], key string, _ uint64) error {
			_, err := r.Edit(ctx, key, func(v *string, _ uint64) (bool, error) { *v = "new"; return true, nil })
			return err
		},
		"removed": func(ctx context.Context, r jet.Records[string], key string, _ uint64) error {
			return r.Remove(ctx, key, 0)
		},
		"removed_at_revision": func(ctx context.Context, r jet.Records[string], key string, revision uint64) error {
			return r.Remove(ctx, key, revision)
		},
		"removed_and_created": func(ctx context.Context, r jet.Records[string], key string, revision uint64) error {
			if err := r.Remove(ctx, key, revision); err != nil {
				return err
			}
			_, err := r.Write(ctx, key, "new", 0)
			return err
		},
	}
	for _, ttl := range []time.Duration{0, time.Hour} {
		inCluster(t, func(w *world) {
			r, ctx := w.notes(ttl), w.t.Context()
			revisions := map[string]uint64{}
			for key := range replace {
				var err error
				if revisions[key], err = r.Write(ctx, key, "old", 0); err != nil {
					w.t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
			for key, f := range replace {
				if err := f(ctx, r, key, revisions[key]); err != nil {
					w.t.Fatalf("%s, kept for %v: %v", key, ttl, err)
				}
				stored, err := w.conn.Last(ctx, "KV_NOTES", "$KV.NOTES.note."+key)
				if err != nil {
					w.t.Fatal(err)
				}
				if kept, _ := time.ParseDuration(stored.Header.Get(jetstream.MsgTTLHeader)); kept != ttl {
					w.t.Errorf("what has %s a record is kept for %v, and the record for %v", key, kept, ttl)
				}
			}
			for range 4 {
				w.broker.Kill()
				w.broker.Start()
				time.Sleep(25 * time.Minute)
				for key := range replace {
					if value, _, err := r.Read(ctx, key); value == "old" || err != nil && !errors.Is(err, job.ErrNotFound) {
						w.t.Errorf("%s, kept for %v: %q is there again, %v", key, ttl, value, err)
					}
				}
			}
		})
	}
}

func TestARecordIsWrittenOnlyInThePlaceOfTheOneThatWasRead(t *testing.T) {
	inCluster(t, func(w *world) {
		r, ctx := w.notes(0), w.t.Context()
		first, err := r.Write(ctx, "a", "one", 0)
		if err != nil {
			w.t.Fatal(err)
		}
		_, err = r.Write(ctx, "a", "two", 0)
		w.wantError(err, job.ErrConflict, "note a exists already")
		_, err = r.Write(ctx, "a", "two", first+1)
		w.wantError(err, job.ErrConflict, "note a was changed by somebody else just now")
		w.wantError(r.Remove(ctx, "a", first+1), job.ErrConflict, "note a was changed by somebody else just now")
		_, _, err = r.Read(ctx, "b")
		w.wantError(err, job.ErrNotFound, "note b")

		tries := 0
		_, err = r.Edit(ctx, "a", func(v *string, _ uint64) (bool, error) {
			if tries++; tries == 1 { // somebody else is faster
				if _, err := r.Put(ctx, "a", "other"); err != nil {
					return false, err
				}
			}
			*v += " edited"
			return true, nil
		})
		if value, _, _ := r.Read(ctx, "a"); err != nil || tries != 2 || value != "other edited" {
			w.t.Errorf("after %d tries: %q, %v", tries, value, err)
		}
		if _, err := r.Put(ctx, "c", "three"); err != nil {
			w.t.Fatal(err)
		}
		if _, err := r.Put(ctx, "b", "gone"); err != nil {
			w.t.Fatal(err)
		}
		if err := r.Remove(ctx, "b", 0); err != nil {
			w.t.Fatal(err)
		}
		list, err := r.List(ctx)
		keys := []string{}
		for _, record := range list {
			keys = append(keys, record.Key)
		}
		if err != nil || !slices.Equal(keys, []string{"a", "c"}) {
			w.t.Errorf("listed: %v, %v", keys, err)
		}
	})
}

func (w *world) wantError(err, kind error, text string) {
	w.t.Helper()
	if want := kind.Error() + ": " + text; !errors.Is(err, kind) || err.Error() != want {
		w.t.Errorf("got error %q, want %q", err, want)
	}
}
