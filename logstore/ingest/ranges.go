package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// span is a range of a stream's sequences that is written at once.
type span struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Count int    `json:"count"` // of messages in it
	// Made is when the stream was made that the sequences are of: those of another one say
	// nothing. Zero: whoever noted the range did not say.
	Made time.Time `json:"made,omitzero"`
}

// token names the write of a range, the same for every repeat of it and never for another.
func (s span) token(stream string) string {
	token := fmt.Sprintf("%s:%d-%d", stream, s.First, s.Last)
	if !s.Made.IsZero() {
		token += "@" + strconv.FormatInt(s.Made.UnixNano(), 36)
	}
	return token
}

// ranges keeps the range of a stream that was begun last, in the bucket CLUSTER
// under "ingest.<stream>".
type ranges struct {
	kv       jetstream.KeyValue
	key      string
	made     time.Time // when the stream was made
	last     span
	revision uint64
}

func openRanges(ctx context.Context, conn *cluster.Conn, stream string) (*ranges, error) {
	kv, err := conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return nil, err
	}
	info, err := conn.Info(ctx, stream)
	if err != nil {
		return nil, err
	}
	r := &ranges{kv: kv, key: "ingest." + stream, made: info.Created.UTC()}
	// Of the leader: a replica that lags behind would name a range before the last one.
	m, err := conn.Last(ctx, "KV_"+bus.BucketCluster, "$KV."+bus.BucketCluster+"."+r.key)
	if errors.Is(err, jet.ErrNoMessage) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.key, err)
	}
	if err := json.Unmarshal(m.Data, &r.last); err != nil {
		return nil, fmt.Errorf("decode %s: %w", r.key, err)
	}
	r.revision = m.Seq
	if made := r.last.Made; !made.IsZero() && !made.Equal(r.made) {
		r.last = span{} // of a stream that is no more
	}
	return r, nil
}

// put notes the next range. The error is job.ErrStale when another ingester did so.
// After any other error it is unknown whether the key has it, so the ranges must be
// opened anew.
func (r *ranges) put(ctx context.Context, next span) error {
	value, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.key, err)
	}
	var revision uint64
	err = jet.AfterOthers(ctx, func(ctx context.Context) error { // else our own earlier try might pass for another ingester's
		revision, err = r.kv.Update(ctx, r.key, value, r.revision)
		return err
	})
	if jet.WrongLast(err) {
		return fmt.Errorf("%w: another ingester has written %s after revision %d", job.ErrStale, r.key, r.revision)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", r.key, jet.Unavailable(err))
	}
	r.last, r.revision = next, revision
	return nil
}
