package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// keyTokens is where the bucket CLUSTER has the keys of tokens. Executors cannot read it.
const keyTokens = "token-keys"

var kindTokenKeys = jet.Kind[json.RawMessage]{Bucket: bus.BucketCluster, Prefix: keyTokens, Name: func(string) string { return "the keys of tokens" }}

// Tokens returns what makes and checks tokens. It has the keys of the cluster once Setup
// or Open has returned.
func (c *Conn) Tokens() *bus.Tokens { return &c.tokens }

// tokenKeys are the keys of tokens, in the bucket CLUSTER.
type tokenKeys struct{ conn *Conn }

// create makes the first key of a cluster that has none.
func (ks tokenKeys) create(ctx context.Context) error {
	data, err := bus.NewTokenKeys(time.Now())
	if err != nil {
		return fmt.Errorf("encode keys of tokens: %w", err)
	}
	return createThe(ctx, ks.conn, &kindTokenKeys, data)
}

// open reads the keys.
func (ks tokenKeys) open(ctx context.Context) error {
	data, err := readThe(ctx, ks.conn, &kindTokenKeys)
	if err != nil {
		return err
	}
	return ks.use(*data)
}

func (ks tokenKeys) use(data []byte) error {
	if err := ks.conn.tokens.Use(data); err != nil {
		return fmt.Errorf("%w: the keys of tokens in bucket %s are damaged: %w", job.ErrInvalid, bus.BucketCluster, err)
	}
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
		if err := (tokenKeys{c}).follow(ctx, log); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "keys of tokens not followed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
	return nil
}

// follow is FollowTokens until something goes wrong. Keys that cannot be read change
// nothing.
func (ks tokenKeys) follow(ctx context.Context, log *slog.Logger) error {
	w, err := ks.conn.Watch(ctx, bus.BucketCluster, []string{keyTokens}, false, 0)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e == nil || e.Operation() != jetstream.KeyValuePut {
			continue
		}
		if err := ks.use(e.Value()); err != nil {
			log.ErrorContext(ctx, "keys of tokens not used", "error", err)
		}
	}
	return nil
}
