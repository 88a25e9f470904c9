package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// setup makes what a cluster needs, and reads what is fixed.
type setup struct{ conn *Conn }

// factConsumers creates the consumers of [FactStreams]. Some of these streams belong to buckets.
func (su setup) factConsumers(ctx context.Context, replicas int) error {
	for _, s := range FactStreams {
		_, err := su.conn.JS.CreateOrUpdateConsumer(ctx, s.Stream, jetstream.ConsumerConfig{
			Durable: bus.ConsumerFacts, FilterSubjects: s.Subjects, AckPolicy: jetstream.AckAllPolicy,
			AckWait: time.Minute, MaxDeliver: -1, MaxAckPending: 200000, Replicas: replicas,
		})
		if err != nil {
			return fmt.Errorf("set up consumer %s on %s: %w", bus.ConsumerFacts, s.Stream, jet.Unavailable(err))
		}
	}
	return nil
}

// How long Setup goes on while JetStream does not answer, and how long it rests in
// between. The streams of a new cluster elect a leader each, which may take seconds.
const (
	setupWithin = time.Minute
	setupRest   = 250 * time.Millisecond
)

// maxPartitionedShards bounds the shards of a cluster with several partitions, whose streams
// name the subjects of each shard. NATS compares all of them with each other: at a start, this
// takes less than a second for 256 shards, and a minute for 1,024.
const maxPartitionedShards = 256

// Setup makes what is missing of streams, buckets and consumers, brings limits of
// existing ones up to date, and returns an error that says what differs where one
// cannot be changed. It is safe to call from several nodes at once. While JetStream
// does not answer it tries again, for a minute; then the error is
// job.ErrUnavailable. If only the streams of some partitions do not answer, it leaves those as
// they are, and returns nil: the other partitions are to go on.
func (c *Conn) Setup(ctx context.Context, a Assets) error {
	a = a.withDefaults()
	if a.Shards < 0 || a.Shards > bus.MaxShards {
		return &job.InvalidError{Field: "shards", Reason: fmt.Sprintf("%d must be between 1 and %d", a.Shards, bus.MaxShards)}
	}
	if most := min(bus.MaxPartitions, cmp.Or(a.Shards, DefaultShards)); a.Partitions < 0 || int(a.Partitions) > most {
		return &job.InvalidError{Field: "partitions", Reason: fmt.Sprintf("%d must be between 1 and %d; a partition has a shard at least", a.Partitions, most)}
	}
	if a.Partitions.Count() > 1 && a.Shards > maxPartitionedShards {
		return &job.InvalidError{Field: "shards", Reason: fmt.Sprintf("%d must be %d at most in a cluster with several partitions", a.Shards, maxPartitionedShards)}
	}
	rest := time.NewTimer(0)
	defer rest.Stop()
	for begun := time.Now(); ; {
		err := setup{c}.all(ctx, a)
		late := time.Since(begun) > setupWithin
		if silent, ok := errors.AsType[*SilentError](err); ok && late && len(silent.Streams) < 2*c.cluster.Partitions.Count() {
			return nil
		}
		if !errors.Is(err, job.ErrUnavailable) || late {
			return err
		}
		rest.Reset(setupRest)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return err
		}
	}
}

// all is Setup, once. After all else, the error is a *SilentError of partitions' streams.
func (su setup) all(ctx context.Context, a Assets) error {
	a, err := su.fixed(ctx, a)
	if err != nil {
		return err
	}
	silent := &SilentError{}
	for _, cfg := range a.streams() {
		if _, _, ok := bus.ParseStream(cfg.Name); ok && a.Partitions.Count() > 1 {
			if _, err := su.conn.Info(ctx, cfg.Name); errors.Is(err, job.ErrUnavailable) {
				silent.Streams = append(silent.Streams, cfg.Name)
				continue
			}
		}
		if err := su.stream(ctx, cfg); err != nil {
			return err
		}
		for _, consumer := range a.consumers()[cfg.Name] {
			if _, err := su.conn.JS.CreateOrUpdateConsumer(ctx, cfg.Name, consumer); err != nil {
				return fmt.Errorf("set up consumer %s on %s: %w", consumer.Durable, cfg.Name, jet.Unavailable(err))
			}
		}
	}
	for _, cfg := range a.executorBuckets() {
		if err := su.stream(ctx, bucketStream(cfg)); err != nil {
			return err
		}
	}
	for _, cfg := range a.buckets() {
		if _, err := su.conn.JS.CreateOrUpdateKeyValue(ctx, cfg); err != nil {
			return fmt.Errorf("set up bucket %s: %w", cfg.Bucket, jet.Unavailable(err))
		}
	}
	if err := su.factConsumers(ctx, a.Replicas); err != nil {
		return err
	}
	if err := su.cluster(ctx, a); err != nil || len(silent.Streams) == 0 {
		return err
	}
	return silent
}

// fixed returns a with the shards and partitions of the cluster, by which its streams differ.
// Several partitions are noted before there are streams: otherwise two nodes that are started
// with different wishes would each make their own.
func (su setup) fixed(ctx context.Context, a Assets) (Assets, error) {
	if a.Partitions.Count() > 1 {
		if _, err := su.conn.JS.CreateOrUpdateKeyValue(ctx, a.clusterBucket()); err != nil {
			return a, fmt.Errorf("set up bucket %s: %w", bus.BucketCluster, jet.Unavailable(err))
		}
		if err := su.createConfig(ctx, a); err != nil {
			return a, err
		}
	}
	_, err := su.conn.Bucket(ctx, bus.BucketCluster)
	var is *Config
	if err == nil {
		is, err = readThe(ctx, su.conn, &kindConfig)
	}
	switch {
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, job.ErrNotFound):
		return a, nil // it is to be made, with one partition
	case err != nil:
		return a, err
	}
	err = a.agrees(*is)
	a.Shards, a.Partitions = is.Shards, is.Partitions
	return a, err
}

// agrees returns an error if a is for another cluster than the one that there is.
func (a Assets) agrees(is Config) error {
	if a.Shards != 0 && a.Shards != is.Shards {
		return fmt.Errorf("%w: the cluster was made with %d shards, which cannot change; leave the number out or give %d", job.ErrConflict, is.Shards, is.Shards)
	}
	if have := is.Partitions.Count(); a.Partitions != 0 && a.Partitions.Count() != have {
		return fmt.Errorf("%w: the cluster was made with %d partitions, which cannot change; leave the number out or give %d", job.ErrConflict, have, have)
	}
	return nil
}

func (su setup) stream(ctx context.Context, cfg jetstream.StreamConfig) error {
	existing, err := su.conn.JS.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if _, err = su.conn.JS.CreateStream(ctx, cfg); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return su.stream(ctx, cfg) // another node was faster
		}
		if err != nil {
			return fmt.Errorf("create stream %s: %w", cfg.Name, jet.Unavailable(err))
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", cfg.Name, jet.Unavailable(err))
	}
	was := existing.CachedInfo().Config
	if was.Retention != cfg.Retention || was.Storage != cfg.Storage {
		return fmt.Errorf("%w: stream %s exists with retention %v and storage %v, but must have %v and %v: it belongs to something else, or was made by hand; use another NATS account or remove it",
			job.ErrConflict, cfg.Name, was.Retention, was.Storage, cfg.Retention, cfg.Storage)
	}
	cfg.MaxBytes = larger(was.MaxBytes, cfg.MaxBytes)
	if _, err := su.conn.JS.UpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("update stream %s: %w", cfg.Name, jet.Unavailable(err))
	}
	return nil
}

// larger returns the larger of two limits, of which one that is not positive is none. What
// an operator has raised stays so.
func larger(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return -1
	}
	return max(a, b)
}

// kindConfig has the settings that are fixed when a cluster is created.
var kindConfig = jet.Kind[Config]{
	Bucket: bus.BucketCluster, Prefix: "config", Name: func(string) string { return "the cluster configuration" },
	Decode: func(_ string, data []byte) (cfg Config, err error) {
		if err := json.Unmarshal(data, &cfg); err != nil || cfg.Shards < 1 || cfg.Shards > bus.MaxShards || cfg.Partitions < 0 || cfg.Partitions > bus.MaxPartitions {
			return cfg, fmt.Errorf("%w: the cluster configuration in bucket %s is damaged: %q", job.ErrInvalid, bus.BucketCluster, data)
		}
		return cfg, nil
	},
}

func (su setup) cluster(ctx context.Context, a Assets) error {
	if err := su.createConfig(ctx, a); err != nil {
		return err
	}
	if err := tokenKeys(su).create(ctx); err != nil {
		return err
	}
	if !a.Restoring {
		if err := su.conn.Restore().checkWhole(ctx); err != nil {
			return err
		}
	}
	if err := su.conn.Open(ctx); err != nil {
		return err
	}
	return a.agrees(su.conn.cluster)
}

// createConfig writes what is fixed, unless it is.
func (su setup) createConfig(ctx context.Context, a Assets) error {
	wish := Config{Shards: cmp.Or(a.Shards, DefaultShards), CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
	if a.Partitions.Count() > 1 {
		wish.Partitions = a.Partitions
	}
	return createThe(ctx, su.conn, &kindConfig, wish)
}

// createThe writes the record of a kind that has one, unless there is one.
func createThe[T any](ctx context.Context, c *Conn, kind *jet.Kind[T], v T) error {
	_, err := kind.On(c.Conn).Write(ctx, the, v, 0)
	if errors.Is(err, job.ErrConflict) {
		return nil
	}
	return err
}

// Open reads the configuration of a cluster that exists, with the keys of its tokens. Programs other than
// scheduler nodes call it instead of Setup.
func (c *Conn) Open(ctx context.Context) error {
	if _, err := c.Bucket(ctx, bus.BucketCluster); err != nil { // which says whether there is a cluster
		return err
	}
	cfg, err := readThe(ctx, c, &kindConfig)
	if err != nil {
		return err
	}
	c.cluster = *cfg
	return tokenKeys{c}.open(ctx)
}

// AwaitSetup is [Conn.Setup] for a program that may be started before JetStream is
// there; logger and errors as Await.
func (c *Conn) AwaitSetup(ctx context.Context, a Assets, cfg jet.Config) error {
	for {
		err := c.Setup(ctx, a)
		if !errors.Is(err, job.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if cfg.Logger != nil {
			cfg.Logger.WarnContext(ctx, "JetStream is away; waiting for it", "error", err)
		}
	}
}
