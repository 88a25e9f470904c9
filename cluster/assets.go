package cluster

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// DefaultShards is how many slices the job space of a new cluster has.
const DefaultShards = 64

// Assets says how the streams and buckets are to be.
type Assets struct {
	// Shards is for a new cluster. An existing one keeps its own, and a different
	// wish is an error. Zero takes what is there, else DefaultShards.
	Shards int
	// Partitions is for a new cluster, like Shards, and at most as many as these. Zero takes what
	// is there, else 1.
	Partitions bus.Partitions
	// Restoring sets up what a restore has left half done. Defaults to false: that is
	// job.ErrConflict.
	Restoring bool
	// Replicas of each stream and bucket: 1, 3 or 5. Defaults to 1.
	Replicas int
	// TrigBytes, EvtBytes and LogBytes bound the streams. Partitions share the first two
	// equally. A stream that exists and may be larger stays so. Default to 4, 8 and 8 GiB.
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

// subjects are those of a stream of triggers, and of one of events. In a cluster of several
// partitions, a stream has those of its shards alone. NATS compares each subject with each other
// one, so these are as few as can be.
func (a Assets) subjects(partition int) (trig, evt []string) {
	if a.Partitions.Count() == 1 {
		return []string{
			"trig.*.any.*", "trig.*.route.*", "trig.*.high.*", "trig.*.low.*", "cur.*", "apart.*", bus.SubjectAllDeferred, "rec.*", bus.SubjectNotices,
		}, []string{"evt.*.*", bus.SubjectMarks("*"), bus.SubjectBarriers}
	}
	for shard := range a.Shards {
		if a.Partitions.Of(shard) != partition {
			continue
		}
		trig = append(trig, bus.SubjectTriggers(shard, "*"), bus.SubjectCursor(shard), bus.SubjectApart(shard), bus.SubjectDeferred(shard), bus.SubjectRecord(shard), bus.SubjectNotice(shard))
		evt = append(evt, bus.SubjectEvent(shard, "*"), bus.SubjectMark(shard, "*"), bus.SubjectBarrier(shard))
	}
	return trig, append(evt, bus.SubjectEnds(partition, "*"))
}

func (a Assets) streams() (all []jetstream.StreamConfig) {
	for p := range a.Partitions.Count() {
		all = append(all, a.partition(p)...)
	}
	return append(all, a.others()...)
}

// partition returns the streams of a partition.
func (a Assets) partition(p int) []jetstream.StreamConfig {
	trig, evt := a.subjects(p)
	return []jetstream.StreamConfig{
		{
			Name:        a.Partitions.Trig(p),
			Description: "triggers of live attempts, cursors, deferred items and records of the shards",
			Subjects:    trig,
			// A work queue forgets what is acknowledged, and does so durably: a limits
			// stream redelivers acknowledged triggers after a crash of the server.
			Retention: jetstream.WorkQueuePolicy,
			Storage:   jetstream.FileStorage,
			// A full stream refuses a batch as a whole; it never drops a live run.
			Discard:            jetstream.DiscardNew,
			MaxBytes:           a.TrigBytes / int64(a.Partitions.Count()),
			MaxConsumers:       20000,
			Replicas:           a.Replicas,
			AllowAtomicPublish: true,
			AllowRollup:        true,
			AllowDirect:        true,
			AllowMsgTTL:        true,
		},
		{
			Name:        a.Partitions.Evt(p),
			Description: "what executors report about runs, marks that people set, and barriers of owners",
			Subjects:    evt,
			Storage:     jetstream.FileStorage,
			Discard:     jetstream.DiscardNew,
			MaxAge:      72 * time.Hour,
			MaxBytes:    a.EvtBytes / int64(a.Partitions.Count()),
			MaxMsgSize:  maxMessageSize,
			Compression: jetstream.S2Compression,
			Duplicates:  30 * time.Second,
			Replicas:    a.Replicas,
			AllowDirect: true,
		},
	}
}

// others returns the streams that all partitions share.
func (a Assets) others() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{
			Name:             bus.StreamLog,
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
			Name:        bus.StreamDead,
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
			Name:        bus.StreamAudit,
			Description: "what people and programs have changed",
			Subjects:    []string{bus.SubjectAudit},
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

// maxMessageSize bounds what executors may write, message by message: an event by its result, which
// has 64 KiB at most, a batch of log lines by 256 KiB before it is encoded.
const maxMessageSize = 1 << 20

// maxKept bounds each bucket that executors write, in bytes. A group that keeps more than its share
// is found within 5 s: by then it may have sent 336 MiB within its budget, which are at most 3 times
// as many on the disk, as each message counts as 512 bytes and its key may have 1 KiB.
const maxKept = 1 << 30

// maxKeys bounds the bucket of keys, in bytes. A group's share of them has about 175 MiB.
const maxKeys = 512 << 20

// deadBytes bounds the stream of dead letters, which is for people to look at.
const deadBytes = 64 << 20

func (a Assets) buckets() []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: bus.BucketJobs, Description: "job versions", History: bus.JobHistory, Replicas: a.Replicas},
		{Bucket: bus.BucketCalendar, Description: "calendar versions", History: bus.CalendarHistory, Replicas: a.Replicas},
		a.clusterBucket(),
		{Bucket: bus.BucketGroups, Description: "executor groups", Replicas: a.Replicas},
		{Bucket: bus.BucketScript, Description: "texts of scripts by their digests", Compression: true, Replicas: a.Replicas},
		{Bucket: bus.BucketSecret, Description: "secrets, sealed for the executors of their groups", Replicas: a.Replicas},
		{Bucket: bus.BucketOverrides, Description: "what runs were given in the place of their jobs' parameters and labels", TTL: OverridesFor, Compression: true, Replicas: a.Replicas},
		{Bucket: bus.BucketKey, Description: "which runs were made for which keys", MaxBytes: maxKeys, MaxValueSize: bus.MaxKeyedRun, LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		{Bucket: bus.BucketStarted, Description: "which runs the code of runs has started", LimitMarkerTTL: time.Minute, Compression: true, MaxBytes: startedBytes, Replicas: a.Replicas},
		{Bucket: bus.BucketAccess, Description: "users, API tokens, invitations, and changes under way", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		// Each key has a TTL of its own. With one for the bucket, nats-server 2.15.2 drops a
		// key that was written again since, when the age of its first version is over.
		{Bucket: bus.BucketSession, Description: "sessions, and sign-ins that failed", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		{Bucket: bus.BucketLedger, Description: "discrepancies of the ledger, how far it is audited, and backfills of many jobs", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
		{Bucket: bus.BucketAlert, Description: "rules, channels and silences of alerts, and incidents", Replicas: a.Replicas},
		{Bucket: bus.BucketLease, Description: "leases of shards, nodes and roles", LimitMarkerTTL: time.Minute, Replicas: a.Replicas},
	}
}

func (a Assets) clusterBucket() jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket: bus.BucketCluster, Description: "what is fixed when the cluster is made, and the switch for everything", History: bus.HoldHistory, Replicas: a.Replicas,
	}
}

// executorBuckets are those that executors write. Each has a bound of bytes, and of time for keys
// that are written without one: [bus.Shares] has the bounds of a group.
func (a Assets) executorBuckets() []jetstream.KeyValueConfig {
	all := []jetstream.KeyValueConfig{
		{Bucket: bus.BucketHandler, Description: "what executors say of their handlers", TTL: bus.HandlerTTL},
		{Bucket: bus.BucketInst, Description: "heartbeats of executor instances", TTL: fleet.InstanceShown},
		{Bucket: bus.BucketClaim, Description: "which instance has begun an attempt that must not be begun twice", TTL: bus.ClaimFor, LimitMarkerTTL: time.Minute},
		// Without markers, too: bridges know by their own clocks who is gone.
		{Bucket: bus.BucketXXLJob, Description: "executors of XXL-JOB, and their runs", LimitMarkerTTL: time.Minute},
	}
	for i := range all {
		for _, share := range bus.Shares() {
			if share.Bucket == all[i].Bucket {
				all[i].MaxValueSize = int32(share.Message) //nolint:gosec // of some KiB
			}
		}
		all[i].MaxBytes, all[i].Replicas = maxKept, a.Replicas
	}
	return all
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
		MaxMsgsPerSubject: 1, MaxMsgSize: cfg.MaxValueSize, MaxAge: cfg.TTL, MaxBytes: cfg.MaxBytes, MaxMsgs: -1, MaxConsumers: -1,
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
	ledger := ingest(bus.ConsumerLedger, bus.SubjectRecords)
	ledger.AckPolicy = jetstream.AckExplicitPolicy
	all := map[string][]jetstream.ConsumerConfig{bus.StreamLog: {ingest(bus.ConsumerLogs, "")}}
	for p := range a.Partitions.Count() {
		all[a.Partitions.Trig(p)] = []jetstream.ConsumerConfig{ledger}
		all[a.Partitions.Evt(p)] = []jetstream.ConsumerConfig{ingest(bus.ConsumerEvents, "")}
	}
	return all
}

// FactStreams are the streams of what happens beside runs, with the subjects that tell of
// it: the audit log, and of two buckets the keys of incidents and of discrepancies.
var FactStreams = []struct {
	Stream   string
	Subjects []string
}{
	{bus.StreamAudit, []string{bus.SubjectAudit}},
	{bus.StreamAlert, []string{"$KV." + bus.BucketAlert + ".incident.>", "$KV." + bus.BucketAlert + ".past.>"}},
	{bus.StreamLedger, []string{"$KV." + bus.BucketLedger + "." + findingPrefix + ">"}},
}
