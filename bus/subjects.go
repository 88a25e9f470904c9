package bus

import (
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// The names of streams and buckets.
const (
	StreamTrig = "TRIG" // of the first of the cluster's [Partitions]
	StreamEvt  = "EVT"  // the same
	StreamLog  = "LOG"
	StreamDead = "DEAD" // dead.<stream>: what ingest refused; dead.PING: a ping

	// StreamAudit has the audit log's entries, all on SubjectAudit.
	StreamAudit  = "AUDIT"
	SubjectAudit = "audit"

	BucketJobs      = "JOBS"      // <shard>.<group>.<name> -> job.Version
	BucketCalendar  = "CALENDAR"  // <calendar> -> job.CalendarVersion
	BucketCluster   = "CLUSTER"   // config -> cluster.Config, hold and hold.<group> -> job.Pause, floor.<shard> -> Cursor, token-keys -> the keys of tokens, parked.<node>, refused.<group> -> Refusal, store-disk, missed-targets and what else servers measure
	BucketGroups    = "GROUPS"    // <group> -> Group
	BucketScript    = "SCRIPT"    // <group>.<digest> -> text of a script
	BucketSecret    = "SECRET"    // <group>.<name> -> Secret
	BucketHandler   = "HANDLER"   // <group>.<handler in base64url> -> Handler
	BucketInst      = "INST"      // <group>.<instance> -> Heartbeat
	BucketClaim     = "CLAIM"     // <group>.<attempt> -> Claim, <group>.<attempt>.deaths -> Deaths
	BucketOverrides = "OVERRIDES" // <group>.<run> -> Overrides
	BucketKey       = "KEY"       // <group>.<hash> -> journal.KeyedRun
	BucketStarted   = "STARTED"   // <group>.<run> -> Started
	BucketLedger    = "LEDGER"    // audited -> Audited, finding.<group>.<name>.<run> -> Finding, backfill.<id> -> backfill.Bulk
	BucketLease     = "LEASE"     // shard.<n>, node.<id>, role.ingest -> LeaseRecord
	BucketAccess    = "ACCESS"    // what package auth keeps of users, tokens and invitations
	BucketSession   = "SESSION"   // what package auth keeps of sessions, and of sign-ins that failed
	BucketXXLJob    = "XXLJOB"    // what the bridges for executors of XXL-JOB keep, see package bridge/xxljob/state
	BucketAlert     = "ALERT"     // what package alert keeps: rules, channels, silences, incidents
)

// SubjectTrigger returns where triggers of a shard for a group go when whichever
// instance is free may take them.
func SubjectTrigger(shard int, group string) string {
	return "trig." + strconv.Itoa(shard) + ".any." + group
}

// SubjectRouted returns where triggers of a shard for a group go when a dispatcher
// has to choose the instance.
func SubjectRouted(shard int, group string) string {
	return "trig." + strconv.Itoa(shard) + ".route." + group
}

// SubjectPriority returns where triggers of a governed group go, by the priority of their
// job; see [cluster.Group.Governed]. Those of the normal one go where all routed ones do.
func SubjectPriority(shard int, p job.Priority, group string) string {
	if p == job.PriorityNormal {
		return SubjectRouted(shard, group)
	}
	return "trig." + strconv.Itoa(shard) + "." + string(p) + "." + group
}

// ShardOfTrigger returns the shard to whose triggers a subject belongs.
func ShardOfTrigger(subject string) (shard int, ok bool) {
	rest, ok := strings.CutPrefix(subject, "trig.")
	number, _, found := strings.Cut(rest, ".")
	shard, err := strconv.Atoi(number)
	return shard, ok && found && err == nil
}

// SubjectTriggers matches the subjects of all triggers of a shard; group may be "*".
func SubjectTriggers(shard int, group string) string {
	return "trig." + strconv.Itoa(shard) + ".*." + group
}

// SubjectTriggersOf matches the subjects of all triggers for a group, of all shards.
func SubjectTriggersOf(group string) string { return "trig.*.*." + group }

// SubjectAllTriggers matches the subjects of all triggers.
const SubjectAllTriggers = "trig.>"

// SubjectCursor returns the subject whose only message is the shard's cursor.
func SubjectCursor(shard int) string { return "cur." + strconv.Itoa(shard) }

// SubjectApart returns the subject whose only message says which packs of triggers of the shard were taken
// apart last.
func SubjectApart(shard int) string { return "apart." + strconv.Itoa(shard) }

// SubjectDeferred returns the subject of a shard's deferred items.
func SubjectDeferred(shard int) string { return "defer." + strconv.Itoa(shard) }

// SubjectAllDeferred matches those of all shards.
const SubjectAllDeferred = "defer.*"

// SubjectRecord returns the subject of a shard's records.
func SubjectRecord(shard int) string { return "rec." + strconv.Itoa(shard) }

// SubjectRecords matches the records of all shards.
const SubjectRecords = "rec.*"

// SubjectNotice returns the subject of a shard's notices: of each record, what alerts are
// about. [SubjectNotices] matches those of all shards.
func SubjectNotice(shard int) string { return "note." + strconv.Itoa(shard) }

// SubjectNotices matches [SubjectNotice] of every shard.
const SubjectNotices = "note.*"

// SubjectEvent returns where executors of a group publish events about a shard's runs.
func SubjectEvent(shard int, group string) string {
	return "evt." + strconv.Itoa(shard) + "." + group
}

// SubjectEnds returns where executors of a group publish packs of ends, see [Ends], of runs of a partition.
func SubjectEnds(partition int, group string) string {
	return "evt.p" + strconv.Itoa(partition) + "." + group
}

// ParseSubjectEnds is the inverse of [SubjectEnds].
func ParseSubjectEnds(subject string) (partition int, group string, ok bool) {
	rest, ok := strings.CutPrefix(subject, "evt.p")
	number, group, found := strings.Cut(rest, ".")
	partition, err := strconv.Atoi(number)
	return partition, group, ok && found && err == nil && partition >= 0 && partition < MaxPartitions
}

// GroupOfEvents returns the group whose executors publish on a subject of events, one by one or in
// packs.
func GroupOfEvents(subject string) (group string, ok bool) {
	if _, group, ok = ParseSubjectEnds(subject); !ok {
		_, group, ok = ParseSubjectEvent(subject)
	}
	return group, ok
}

// SubjectEventsOf matches the subjects of the events of a shard.
func SubjectEventsOf(shard int) string { return "evt." + strconv.Itoa(shard) + ".>" }

// SubjectEvents matches [SubjectEvent] of all shards, and [SubjectEnds] of all partitions.
func SubjectEvents(group string) string { return "evt.*." + group }

// ParseSubjectEvent is the inverse of [SubjectEvent].
func ParseSubjectEvent(subject string) (shard int, group string, ok bool) {
	rest, ok := strings.CutPrefix(subject, "evt.")
	if !ok {
		return 0, "", false
	}
	number, group, ok := strings.Cut(rest, ".")
	shard, err := strconv.Atoi(number)
	return shard, group, ok && err == nil
}

// SubjectLog returns where executors publish a run's log lines. Live readers
// subscribe to it; the stream stores it as log.<group>.
func SubjectLog(group string, run job.RunID) string { return "log." + group + "." + string(run) }

// SubjectHand returns where executors of a group hand triggers that they have pulled to a
// server, see [HandOverRequest]; group may be "*".
func SubjectHand(group string) string { return "hand." + group }

// AckedTrigger returns where the message of a trigger is that is acknowledged on a subject, by whichever
// consumer it was delivered. The error is an *InvalidError.
func AckedTrigger(subject string) (at Position, err error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) >= 7 && tokens[0] == "$JS" && tokens[1] == "ACK" {
		kind, _, _ := ParseStream(tokens[2])
		at.Stream = tokens[2]
		if at.Seq, err = strconv.ParseUint(tokens[5], 10, 64); err == nil && at.Seq > 0 && kind == StreamTrig {
			return at, nil
		}
	}
	return Position{}, job.Invalid(HeaderAck, "%.200q is not valid", subject)
}

// ParseAck returns which trigger is acknowledged on a subject, as where its message is, and
// how often it had been delivered. The error is an *InvalidError unless the trigger is one
// that executors of the group pull.
func ParseAck(subject, group string) (at Position, delivery int, err error) {
	rest, ours := strings.CutPrefix(subject, "$JS.ACK.")
	stream, rest, _ := strings.Cut(rest, ".")
	kind, _, _ := ParseStream(stream)
	rest, pulled := strings.CutPrefix(rest, ConsumerAny(group)+".")
	tokens := strings.Split(rest, ".")
	if ours && kind == StreamTrig && pulled && len(tokens) >= 5 && !strings.ContainsAny(rest, "*> ") {
		at.Stream = stream
		delivery, err = strconv.Atoi(tokens[0])
		if err == nil {
			at.Seq, err = strconv.ParseUint(tokens[1], 10, 64)
		}
		if err == nil && delivery > 0 && at.Seq > 0 {
			return at, delivery, nil
		}
	}
	return Position{}, 0, job.Invalid(HeaderAck, "%q is not of group %q", subject, group)
}

// VerbNudge is the verb of a message, not a request, that says that there is a
// deferred item for a shard which its owner has not written itself.
const VerbNudge = "nudge"

// The verbs of requests about backfills, see [BackfillRequest], [BackfillsRequest] and
// [BackfillCancel]. The first and the last are answered with a [job.Backfill].
const (
	VerbBackfill       = "backfill"
	VerbBackfills      = "backfills"
	VerbCancelBackfill = "cancel-backfill"
)

// SubjectCommand returns where the owner of a shard takes requests: verb is
// "trigger", "cancel", [VerbKey], one about backfills, or [VerbNudge].
func SubjectCommand(shard int, verb string) string {
	return "sched." + strconv.Itoa(shard) + "." + verb
}

// SubjectChosen returns where dispatchers tell each other which instance of a group
// got a run; group may be "*".
func SubjectChosen(group string) string { return "sched.chosen." + group }

// ConsumerAny returns the name of the durable consumer from which a group's
// executors pull.
func ConsumerAny(group string) string { return "any-" + group }

// ConsumerRoute returns the name of the durable consumer from which the dispatchers
// of all scheduler nodes pull a group's routed triggers.
func ConsumerRoute(group string) string { return "route-" + group }

// ConsumerPriority returns the name of the durable consumer from which a dispatcher
// pulls triggers of a governed group.
func ConsumerPriority(p job.Priority, group string) string {
	if p == job.PriorityNormal {
		return ConsumerRoute(group)
	}
	return string(p) + "-" + group
}

// GroupOfConsumer returns the group whose triggers a consumer on a stream hands out, "" if it
// is for something else.
func GroupOfConsumer(stream, consumer string) string {
	if is, _, _ := ParseStream(stream); is != StreamTrig {
		return ""
	}
	kind, group, _ := strings.Cut(consumer, "-")
	switch consumer {
	case ConsumerAny(group), ConsumerPriority(job.Priority(kind), group), ConsumerRoute(group):
		return group
	}
	return ""
}

// The names of ingest's durable consumers.
const (
	ConsumerLedger = "ledger" // on each stream of triggers, rec.*
	ConsumerEvents = "ingest" // on each stream of events
	ConsumerLogs   = "ingest" // on LOG
	ConsumerFacts  = "ingest" // on each of FactStreams
)

// The streams below three buckets.
const (
	StreamInst   = "KV_" + BucketInst
	StreamAccess = "KV_" + BucketAccess
	StreamAlert  = "KV_" + BucketAlert
	StreamLedger = "KV_" + BucketLedger
)

// MaxShards bounds how many shards a cluster has.
const MaxShards = 1024

// SubjectScript returns where the text of a script of a group is kept.
func SubjectScript(group, digest string) string {
	return "$KV." + BucketScript + "." + group + "." + digest
}
