package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// keyTokens is where the bucket CLUSTER has the keys of tokens. Executors cannot read it.
const keyTokens = "token-keys"

// storedKeys is the value there. A key stays for as long as a trigger with a token of it
// may wait.
type storedKeys struct {
	Keys []*tokenKey `json:"keys"`
}

// Tokens returns what makes and checks tokens. It has the keys of the cluster once Setup
// or Open has returned.
func (c *Conn) Tokens() *Tokens { return &c.tokens }

// DecodeEvent is [Tokens.DecodeEvent] with the cluster's number of shards.
func (c *Conn) DecodeEvent(subject string, header nats.Header, data []byte, stored time.Time) (*Event, error) {
	return c.tokens.DecodeEvent(subject, header, data, stored, c.cluster.Shards)
}

// DecodeLog is [Tokens.DecodeLog].
func (c *Conn) DecodeLog(subject string, header nats.Header, data []byte) (*Log, error) {
	return c.tokens.DecodeLog(subject, header, data)
}

// ServerEvent is [Tokens.ServerEvent] now.
func (c *Conn) ServerEvent(e *Event) (*nats.Msg, error) {
	return c.tokens.ServerEvent(e, time.Now())
}

// setupTokens makes the first key of a cluster that has none.
func setupTokens(ctx context.Context, kv jetstream.KeyValue) error {
	data, err := json.Marshal(storedKeys{[]*tokenKey{newTokenKey(time.Now())}})
	if err != nil {
		return fmt.Errorf("encode keys of tokens: %w", err)
	}
	if _, err := kv.Create(ctx, keyTokens, data); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("write keys of tokens: %w", Unavailable(err))
	}
	return nil
}

// openTokens reads the keys. A cluster that only an older program has set up has none.
func (c *Conn) openTokens(ctx context.Context, kv jetstream.KeyValue) error {
	entry, err := kv.Get(ctx, keyTokens)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read keys of tokens: %w", Unavailable(err))
	}
	return c.useTokens(entry.Value())
}

func (c *Conn) useTokens(data []byte) error {
	var stored storedKeys
	err := json.Unmarshal(data, &stored)
	if err == nil && len(stored.Keys) == 0 {
		err = &job.InvalidError{Field: "keys", Reason: "must have one at least"}
	}
	for _, k := range stored.Keys {
		if err == nil {
			err = k.check()
		}
	}
	if err != nil {
		return fmt.Errorf("%w: the keys of tokens in bucket %s are damaged: %w", job.ErrInvalid, BucketCluster, err)
	}
	slices.SortStableFunc(stored.Keys, func(a, b *tokenKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	c.tokens.use(stored.Keys)
	return nil
}

// followTokensAgain is how soon the keys are followed again after trouble.
const followTokensAgain = 5 * time.Second

// FollowTokens uses the keys that are added, until ctx is done; then it returns nil. Every
// server does so, as a key signs a minute after it was made.
func (c *Conn) FollowTokens(ctx context.Context, log *slog.Logger) error {
	again := time.NewTicker(followTokensAgain)
	defer again.Stop()
	for ctx.Err() == nil {
		if err := c.followTokens(ctx, log); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "keys of tokens not followed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
	return nil
}

// followTokens is FollowTokens until something goes wrong. Keys that cannot be read change
// nothing.
func (c *Conn) followTokens(ctx context.Context, log *slog.Logger) error {
	w, err := c.watch(ctx, BucketCluster, []string{keyTokens}, false, 0)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e == nil || e.Operation() != jetstream.KeyValuePut {
			continue
		}
		if err := c.useTokens(e.Value()); err != nil {
			log.ErrorContext(ctx, "keys of tokens not used", "error", err)
		}
	}
	return nil
}
