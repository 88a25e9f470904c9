package bus

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// ExecutorPermissions returns what an executor of a group publishes and what it
// subscribes to: all that the protocol needs, and nothing else. Besides these it
// answers requests, once each. docs/reference/protocol.md has the same lists, for one of the
// cluster's partitions.
func ExecutorPermissions(group string, n Partitions) (publish, subscribe []string) {
	for _, stream := range n.Trigs() {
		publish = append(publish,
			"$JS.API.CONSUMER.MSG.NEXT."+stream+"."+ConsumerAny(group),
			"$JS.ACK."+stream+"."+ConsumerAny(group)+".>",
			"$JS.ACK."+stream+"."+ConsumerRoute(group)+".>",
			"$JS.ACK."+stream+"."+ConsumerPriority(job.PriorityHigh, group)+".>",
			"$JS.ACK."+stream+"."+ConsumerPriority(job.PriorityLow, group)+".>",
		)
	}
	publish = append(publish,
		"$KV."+BucketClaim+"."+group+".*",
		"$JS.API.DIRECT.GET.KV_"+BucketClaim+".$KV."+BucketClaim+"."+group+".*",
		SubjectHand(group),
		SubjectStart(group),
		"evt.*."+group,
		"log."+group+".*",
		"$KV."+BucketInst+"."+group+".*",
		"$JS.API.DIRECT.GET.KV_"+BucketInst+".$KV."+BucketInst+"."+group+".*",
		"$KV."+BucketHandler+"."+group+".*",
		"$JS.API.DIRECT.GET.KV_"+BucketScript+".$KV."+BucketScript+"."+group+".*",
		"$JS.API.DIRECT.GET.KV_"+BucketSecret+".$KV."+BucketSecret+"."+group+".*",
	)
	subscribe = []string{
		"exec." + group + ".>",
		ExecutorInbox(group) + ".>",
	}
	return publish, subscribe
}

// BridgePermissions returns what a bridge for executors of another scheduler publishes and what it
// subscribes to: all that an executor of each of its groups may, and what bridges keep of these groups.
// Bridges of one group trust each other.
func BridgePermissions(groups []string, n Partitions) (publish, subscribe []string) {
	for _, group := range groups {
		p, s := ExecutorPermissions(group, n)
		publish, subscribe = append(publish, p...), append(subscribe, s...)
		publish = append(publish,
			"exec."+group+".*.callback", // to the bridge that has the run
			"$KV."+BucketXXLJob+"."+group+".>",
			"$JS.API.DIRECT.GET.KV_"+BucketXXLJob+".$KV."+BucketXXLJob+"."+group+".>",
			SubjectBridge(group),
			"$JS.API.DIRECT.GET.KV_"+BucketJobs+".$KV."+BucketJobs+".*."+group+".*", // for the number that a job had
		)
	}
	return publish, subscribe
}

// ExecutorInbox returns the prefix of the inboxes of a group's executors. It is not
// that of other clients: what these are sent is not for executors to hear.
func ExecutorInbox(group string) string { return "_INBOX_" + group }

// Bounds of what executors write to buckets, in bytes of a whole message: its headers and its data.
const (
	// MaxHeartbeat bounds a [Heartbeat]: the names of its handlers have MaxHandlerNames at most,
	// its labels 4 KiB, and a refusal 2 KiB.
	MaxHeartbeat = 32 << 10
	// MaxHandlerNames bounds the names of an instance's handlers, as a JSON array.
	MaxHandlerNames = 16 << 10
	// MaxAnnouncement bounds a [Handler]. Most of it is its schemas.
	MaxAnnouncement = 32 << 10
	// MaxClaim bounds a [Claim].
	MaxClaim = 512
	// MaxVersion bounds the version that an instance says its program has, in bytes.
	MaxVersion = 255
	// MaxKeyedRun bounds what the bucket KEY has of a run, which servers write.
	MaxKeyedRun = 1 << 10
	// MaxBridgeValue bounds what a bridge keeps of an executor or a run. It has room for a trigger.
	MaxBridgeValue = 512 << 10
)

// Share bounds what each group keeps in a bucket. NATS has no such bound: servers count.
type Share struct {
	Bucket string
	Keys   int // of a group
	// Message bounds a key's message, in bytes. NATS refuses a larger one. 0 is no bound.
	Message int
	// Bytes bounds the messages of a group together; 0 is Keys times Message.
	Bytes int64
}

// Shares returns the bounds of the buckets that credentials of groups write. Servers refuse a group
// that keeps more, and remove its oldest keys.
func Shares() []Share {
	return []Share{
		{Bucket: BucketInst, Keys: fleet.MaxInstances, Message: MaxHeartbeat},
		{Bucket: BucketHandler, Keys: 1000, Message: MaxAnnouncement},
		// Some 400 ends a second of at_most_once runs: each claim stays for ClaimAfter.
		{Bucket: BucketClaim, Keys: 250_000, Message: MaxClaim},
		{Bucket: BucketXXLJob, Keys: 20_000, Message: MaxBridgeValue, Bytes: 256 << 20},
	}
}

// ShareOfOverrides bounds the overrides of a group's runs, which servers alone write: they keep no more.
func ShareOfOverrides() Share { return Share{Bucket: BucketOverrides, Keys: 500_000, Bytes: 512 << 20} }

// ShareOfKeys bounds the keys of runs that a group's jobs remember, in the same way.
func ShareOfKeys() Share { return Share{Bucket: BucketKey, Keys: 500_000, Message: MaxKeyedRun} }
