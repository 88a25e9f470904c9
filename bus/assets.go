package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
	"carillon/job/fleet"
)

// DefaultShards is how many slices the job space of a new cluster has.
const DefaultShards = 64

// MaxShards bounds the choice.
const MaxShards = 1024

// ClusterConfig is what is fixed when a cluster is made.
type ClusterConfig struct {
	Shards    int       `json:"shards"`
	CreatedAt time.Time `json:"created_at"`
}

// Assets says how the streams and buckets are to be.
type Assets struct {
	// Shards is for a new cluster. An existing one keeps its own, and a different
	// wish is an error. Zero takes what is there, else DefaultShards.
	Shards int
	// Restoring sets up what a restore has left half done. Defaults to false: that is
	// job.ErrConflict.
	Restoring bool
	// Replicas of each stream and bucket: 1, 3 or 5. Defaults to 1.
	Replicas int
	// TrigBytes, EvtBytes and LogBytes bound the streams. A stream that exists and may be
	// larger stays so. Default to 4, 8 and 8 GiB.
	TrigBytes, EvtBytes, LogBytes int64
	// AuditBytes bounds the audit log, in the same way. Defaults to 4 GiB, some million
	// changes.
	AuditBytes int64
}

func (a Assets) withDefaults() Assets {
	const gib = 1 << 30
	if a.Replicas == 0 {
		a.Replicas = 1
	}
	if a.TrigBytes == 0 {
		a.TrigBytes = 4 * gib
	}
	if a.EvtBytes == 0 {
		a.EvtBytes = 8 * gib
	}
	if a.AuditBytes == 0 {
		a.AuditBytes = 4 * gib
	}
	if a.LogBytes == 0 {
		a.LogBytes = 8 * gib
	}
	return a
}

func (a Assets) streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{
			Name:        StreamTrig,
			Description: "triggers of live attempts, cursors, deferred items and records of the shards",
			Subjects: []string{
				"trig.*.any.*", "trig.*.route.*", "trig.*.high.*", "trig.*.low.*", "cur.*", "defer.*", "rec.*", SubjectNotices,
			},
			// A work queue forgets what is acknowledged, and does so durably: a limits
			// stream redelivers acknowledged triggers after a crash of the server.
			Retention: jetstream.WorkQueuePolicy,
			Storage:   jetstream.FileStorage,
			// A full stream refuses a batch as a whole; it never drops a live run.
			Discard:            jetstream.DiscardNew,
			MaxBytes:           a.TrigBytes,
			MaxConsumers:       20000,
			Replicas:           a.Replicas,
			AllowAtomicPublish: true,
			AllowRollup:        true,
			AllowDirect:        true,
			AllowMsgTTL:        true,
		},
		{
			Name:        StreamEvt,
			Description: "what executors report about runs, marks that people set, and barriers of owners",
			Subjects:    []string{"evt.*.*", SubjectMarks("*"), SubjectBarriers},
			Storage:     jetstream.FileStorage,
			Discard:     jetstream.DiscardNew,
			MaxAge:      72 * time.Hour,
			MaxBytes:    a.EvtBytes,
			MaxMsgSize:  maxMessageSize,
			Compression: jetstream.S2Compression,
			Duplicates:  30 * time.Second,
			Replicas:    a.Replicas,
			AllowDirect: true,
		},
		{
			Name:             StreamLog,
			Description:      "what runs print",
			Subjects:         []string{"log.*.*"},
			SubjectTransform: &jetstream.SubjectTransformConfig{Source: "log.*.*", Destination: "log.{{wildcard(1)}}"},
			Storage:          jetstream.FileStorage,
			Discard:          jetstream.DiscardOld,
			MaxAge:           48 * time.Hour,
			MaxBytes:         a.LogBytes,
			MaxMsgSize:       maxMessageSize,
			Compression:      jetstream.S2Compression,
			Duplicates:       30 * time.Second,
			Replicas:         a.Replicas,
			AllowDirect:      true,
		},
		{
			Name:        StreamDead,
			Description: "messages about runs that were forged or damaged, each with the reason",
			Subjects:    []string{subjectsDead},
			Storage:     jetstream.FileStorage,
			Discard:     jetstream.DiscardOld, // whoever sends rubbish must not stop anything
			MaxAge:      14 * 24 * time.Hour,
			MaxBytes:    deadBytes,
			Compression: jetstream.S2Compression,
			Duplicates:  30 * time.Second,
			Replicas:    a.Replicas,
			AllowDirect: true,
		},
		{
			Name:        StreamAudit,
			Description: "what people and programs have changed",
			Subjects:    []string{SubjectAudit},
			Storage:     jetstream.FileStorage,
			// Nobody can take anything out of it, and that cannot be changed; only the oldest
			// go when it is full: a full audit log must not keep people from pausing jobs.
			DenyDelete:  true,
			DenyPurge:   true,
			Discard:     jetstream.DiscardOld,
			MaxBytes:    a.AuditBytes,
			Compression: jetstream.S2Compression,
			Duplicates:  time.Hour,
			Replicas:    a.Replicas,
			AllowDirect: true,
		},
	}
}

// What executors may write is bounded, message by message: an event by its result, which
// has 64 KiB at most, a batch of log lines by 256 KiB before it is encoded.
const (
	maxMessageSize = 1 << 20
	maxValueSize   = 256 << 10
)

// deadBytes bounds the stream of dead letters, which is for people to look at.
const deadBytes = 64 << 20

func (a Assets) buckets() []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: BucketJobs, Description: "job versions", History: JobHistory, Replicas: a.Replicas},
		{Bucket: BucketCalendar, Description: "calendar versions", History: CalendarHistory, Replicas: a.Replicas},
		{Bucket: BucketCluster, Description: "what is fixed when the cluster is made, and the switch for everything", History: HoldHistory, Replicas: a.Replicas},
		{Bucket: BucketGroups, Description: "executor groups", Replicas: a.Replicas},
		{Bucket: BucketScript, Description: "texts of scripts by their digests", Compression: true, Replicas: a.Replicas},
		{Bucket: BucketSecret, Description: "secrets, sealed for the executors of their groups", Replicas: a.Replicas},
		{Bucket: BucketGiven, Description: "what runs were given in the place of their jobs' parameters and labels", TTL: GivenFor, Compression: true, Replicas: a.Replicas},
		{Bucket: BucketAccess, Description: "users, API tokens, invitations, and changes under way", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		// Each key has a TTL of its own. With one for the bucket, nats-server 2.15.2 drops a
		// key that was written again since, when the age of its first version is over.
		{Bucket: BucketSession, Description: "sessions, and sign-ins that failed", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		{Bucket: BucketLedger, Description: "discrepancies of the ledger, and how far it is audited", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		{Bucket: BucketAlert, Description: "rules, channels and silences of alerts, and incidents", Replicas: a.Replicas},
		{Bucket: BucketLease, Description: "leases of shards, nodes and roles", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
	}
}

// executorBuckets are those that executors write.
func (a Assets) executorBuckets() []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: BucketHandler, Description: "what executors say of their handlers", TTL: HandlerTTL, MaxValueSize: maxValueSize, Replicas: a.Replicas},
		{Bucket: BucketInst, Description: "heartbeats of executor instances", TTL: fleet.InstanceShown, MaxValueSize: maxValueSize, Replicas: a.Replicas},
		claimBucket(a.Replicas),
	}
}

// bucketStream returns the stream below a bucket as the client library makes it, but
// without rollups: by one header, whoever may write any key could remove all of them.
func bucketStream(cfg jetstream.KeyValueConfig) jetstream.StreamConfig {
	duplicates := 2 * time.Minute
	if cfg.TTL > 0 {
		duplicates = min(duplicates, cfg.TTL)
	}
	return jetstream.StreamConfig{
		Name: "KV_" + cfg.Bucket, Description: cfg.Description, Subjects: []string{"$KV." + cfg.Bucket + ".>"},
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, Replicas: cfg.Replicas, Duplicates: duplicates,
		MaxMsgsPerSubject: 1, MaxMsgSize: cfg.MaxValueSize, MaxAge: cfg.TTL, MaxBytes: -1, MaxMsgs: -1, MaxConsumers: -1,
		DenyDelete: true, AllowDirect: true,
		AllowMsgTTL: cfg.LimitMarkerTTL > 0, // without markers, which need rollups: nobody waits for an end here
	}
}

func (a Assets) consumers() map[string][]jetstream.ConsumerConfig {
	ingest := func(name, filter string) jetstream.ConsumerConfig {
		return jetstream.ConsumerConfig{
			Durable: name, FilterSubject: filter, AckPolicy: jetstream.AckAllPolicy,
			AckWait: time.Minute, MaxDeliver: -1, MaxAckPending: 200000, Replicas: a.Replicas,
		}
	}
	// A work queue takes explicit acknowledgement only.
	ledger := ingest(ConsumerLedger, SubjectRecords)
	ledger.AckPolicy = jetstream.AckExplicitPolicy
	return map[string][]jetstream.ConsumerConfig{
		StreamTrig: {ledger},
		StreamEvt:  {ingest(ConsumerEvents, "")},
		StreamLog:  {ingest(ConsumerLogs, "")},
	}
}

// setupFactConsumers makes those of [FactStreams], some of which are below buckets.
func (c *Conn) setupFactConsumers(ctx context.Context, replicas int) error {
	for _, s := range FactStreams {
		_, err := c.JS.CreateOrUpdateConsumer(ctx, s.Stream, jetstream.ConsumerConfig{
			Durable: ConsumerFacts, FilterSubjects: s.Subjects, AckPolicy: jetstream.AckAllPolicy,
			AckWait: time.Minute, MaxDeliver: -1, MaxAckPending: 200000, Replicas: replicas,
		})
		if err != nil {
			return fmt.Errorf("set up consumer %s on %s: %w", ConsumerFacts, s.Stream, Unavailable(err))
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

// Setup makes what is missing of streams, buckets and consumers, brings limits of
// existing ones up to date, and returns an error that says what differs where one
// cannot be changed. It is safe to call from several nodes at once. While JetStream
// does not answer it tries again, for a minute; then the error is
// job.ErrUnavailable.
func (c *Conn) Setup(ctx context.Context, a Assets) error {
	a = a.withDefaults()
	if a.Shards < 0 || a.Shards > MaxShards {
		return &job.InvalidError{Field: "shards", Reason: fmt.Sprintf("%d must be between 1 and %d", a.Shards, MaxShards)}
	}
	rest := time.NewTimer(0)
	defer rest.Stop()
	for begun := time.Now(); ; {
		err := c.setup(ctx, a)
		if !errors.Is(err, job.ErrUnavailable) || time.Since(begun) > setupWithin {
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

// setup is Setup, once.
func (c *Conn) setup(ctx context.Context, a Assets) error {
	for _, cfg := range a.streams() {
		if err := c.setupStream(ctx, cfg); err != nil {
			return err
		}
		for _, consumer := range a.consumers()[cfg.Name] {
			if _, err := c.JS.CreateOrUpdateConsumer(ctx, cfg.Name, consumer); err != nil {
				return fmt.Errorf("set up consumer %s on %s: %w", consumer.Durable, cfg.Name, Unavailable(err))
			}
		}
	}
	for _, cfg := range a.executorBuckets() {
		if err := c.setupStream(ctx, bucketStream(cfg)); err != nil {
			return err
		}
	}
	for _, cfg := range a.buckets() {
		if _, err := c.JS.CreateOrUpdateKeyValue(ctx, cfg); err != nil {
			return fmt.Errorf("set up bucket %s: %w", cfg.Bucket, Unavailable(err))
		}
	}
	if err := c.setupFactConsumers(ctx, a.Replicas); err != nil {
		return err
	}
	return c.setupCluster(ctx, a)
}

func (c *Conn) setupStream(ctx context.Context, cfg jetstream.StreamConfig) error {
	existing, err := c.JS.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if _, err = c.JS.CreateStream(ctx, cfg); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return c.setupStream(ctx, cfg) // another node was faster
		}
		if err != nil {
			return fmt.Errorf("create stream %s: %w", cfg.Name, Unavailable(err))
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", cfg.Name, Unavailable(err))
	}
	was := existing.CachedInfo().Config
	if was.Retention != cfg.Retention || was.Storage != cfg.Storage {
		return fmt.Errorf("%w: stream %s exists with retention %v and storage %v, but must have %v and %v: it belongs to something else, or was made by hand; use another NATS account or remove it",
			job.ErrConflict, cfg.Name, was.Retention, was.Storage, cfg.Retention, cfg.Storage)
	}
	cfg.MaxBytes = larger(was.MaxBytes, cfg.MaxBytes)
	if _, err := c.JS.UpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("update stream %s: %w", cfg.Name, Unavailable(err))
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

const keyConfig = "config"

func (c *Conn) setupCluster(ctx context.Context, a Assets) error {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return err
	}
	wish := ClusterConfig{Shards: a.Shards, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
	if wish.Shards == 0 {
		wish.Shards = DefaultShards
	}
	data, err := json.Marshal(wish)
	if err != nil {
		return fmt.Errorf("encode cluster configuration: %w", err)
	}
	if _, err := kv.Create(ctx, keyConfig, data); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("write cluster configuration: %w", Unavailable(err))
	}
	if err := setupTokens(ctx, kv); err != nil {
		return err
	}
	if !a.Restoring {
		if err := checkWhole(ctx, kv); err != nil {
			return err
		}
	}
	if err := c.Open(ctx); err != nil {
		return err
	}
	if a.Shards != 0 && a.Shards != c.cluster.Shards {
		return fmt.Errorf("%w: the cluster was made with %d shards, which cannot change; leave the number out or give %d", job.ErrConflict, c.cluster.Shards, c.cluster.Shards)
	}
	return nil
}

// Open reads the configuration of a cluster that exists, with the keys of its tokens. Programs other than
// scheduler nodes call it instead of Setup.
func (c *Conn) Open(ctx context.Context) error {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return err
	}
	entry, err := kv.Get(ctx, keyConfig)
	if err != nil {
		return fmt.Errorf("read cluster configuration: %w", Unavailable(err))
	}
	var cfg ClusterConfig
	if err := json.Unmarshal(entry.Value(), &cfg); err != nil || cfg.Shards < 1 || cfg.Shards > MaxShards {
		return fmt.Errorf("%w: the cluster configuration in bucket %s is damaged: %q", job.ErrInvalid, BucketCluster, entry.Value())
	}
	c.cluster = cfg
	return c.openTokens(ctx, kv)
}
