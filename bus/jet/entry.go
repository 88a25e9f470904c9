package jet

import (
	"context"
	"errors"
	"regexp"

	"github.com/nats-io/nats.go/jetstream"
)

// keyForm is that of a bucket's keys. A key with a wildcard would read another one.
var keyForm = regexp.MustCompile(`^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$`)

// Entry returns the last entry of a key, as the leader of the bucket's stream knows it. It is Get of
// the KV client for those whose next write depends on what they read: there, a replica that lags
// behind may answer. Errors: [jetstream.ErrKeyNotFound] when the key is not there, job.ErrUnavailable.
func (c *Conn) Entry(ctx context.Context, bucket, key string) (jetstream.KeyValueEntry, error) {
	if !keyForm.MatchString(key) {
		return nil, jetstream.ErrKeyNotFound
	}
	prefix := "$KV." + bucket + "."
	m, err := c.Last(ctx, "KV_"+bucket, prefix+key)
	if errors.Is(err, ErrNoMessage) {
		return nil, jetstream.ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	if e := entryOf(bucket, prefix, m); e.op == jetstream.KeyValuePut {
		return e, nil
	}
	return nil, jetstream.ErrKeyNotFound
}
