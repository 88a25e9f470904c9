package fleet

import "time"

// Durability is what the copies of the streams withstand.
type Durability string

// Durabilities. What a power cut costs where there is one copy is up to the NATS server's
// sync_interval, which it does not tell its clients.
const (
	OneCopy    Durability = "one_copy"   // the death of any process, not that of a disk
	Replicated Durability = "replicated" // that of a minority of the NATS servers, too
	Degraded   Durability = "degraded"   // replicated, but some copies are behind or gone
)

// State is how NATS keeps what Carillon has on it, as it says at one moment.
type State struct {
	// Server is the NATS server that this process is connected to, Cluster empty where it
	// has no others beside it.
	Server  string `json:"server"`
	Version string `json:"version"`
	Cluster string `json:"cluster,omitempty"`

	// Bytes of MaxBytes that the account may have on disk; 0 when that has no bound of its own.
	Bytes    uint64 `json:"bytes"`
	MaxBytes int64  `json:"max_bytes,omitempty"`

	// Durability is that of the stream which has the least, Replicas its copies.
	Durability Durability      `json:"durability"`
	Replicas   int             `json:"replicas"`
	Streams    []StreamState   `json:"streams"`   // streams first, then the buckets, each by name
	Consumers  []ConsumerState `json:"consumers"` // on streams, not on buckets: those with most work first
	// Kept lists the groups that use the most of their share of a bucket.
	Kept []Kept `json:"kept"`
}

// Kept is an executor group's use of its share of a bucket.
type Kept struct {
	Group   string `json:"executor_group"`
	Bucket  string `json:"bucket"`
	Keys    uint64 `json:"keys"`
	MaxKeys int    `json:"max_keys"`
	// Bytes of MaxBytes that the keys have together, where that is counted; else both are 0. What was
	// removed within the last hour may be among them.
	Bytes    int64 `json:"bytes,omitempty"`
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Unreadable is how many of the keys no executor would write.
	Unreadable int `json:"unreadable,omitempty"`
}

// Used returns the used fraction of the share; 1 is all of it.
func (k Kept) Used() float64 {
	used := float64(k.Keys) / float64(k.MaxKeys)
	if k.MaxBytes > 0 {
		used = max(used, float64(k.Bytes)/float64(k.MaxBytes))
	}
	return used
}

// Over reports whether the group exceeds its share.
func (k Kept) Over() bool { return k.Used() > 1 }

// StreamState is one stream, or the one below a bucket.
type StreamState struct {
	Stream      string    `json:"stream"` // a bucket by its own name
	Bucket      bool      `json:"bucket,omitempty"`
	Description string    `json:"description,omitempty"`
	Messages    uint64    `json:"messages"`
	Bytes       uint64    `json:"bytes"`
	MaxBytes    int64     `json:"max_bytes,omitempty"` // 0: no bound
	Refuses     bool      `json:"refuses"`             // once it is full; the oldest goes otherwise
	LastSeq     uint64    `json:"last_sequence"`       // grows by one with each message
	OldestAt    time.Time `json:"oldest_at,omitzero"`
	Consumers   int       `json:"consumers"`
	Replicas    int       `json:"replicas"`
	Leader      string    `json:"leader,omitempty"`
	// Behind are the servers whose copy is not whole at the moment.
	Behind []string `json:"behind,omitempty"`
}

// ConsumerState is who takes from a stream.
type ConsumerState struct {
	Stream         string `json:"stream"`
	Consumer       string `json:"consumer"`
	Group          string `json:"executor_group,omitempty"` // whose triggers it hands out
	Ephemeral      bool   `json:"ephemeral,omitempty"`      // it follows for one connection, and goes with it
	Waiting        uint64 `json:"waiting"`
	Unacknowledged int    `json:"unacknowledged"`
	Redelivered    int    `json:"redelivered"` // of the unacknowledged, those that were handed out again
	Pulls          int    `json:"pulls"`       // requests for more that wait
}

// RoomLeft is how much has to be left of a stream's bytes: a message that is larger is
// refused though the stream is not full.
const RoomLeft = 1 << 20

// Full reports whether the stream refuses messages because it has as much as it may have, or
// will with the next large one.
func (s *StreamState) Full() bool {
	if !s.Refuses || s.MaxBytes <= 0 {
		return false
	}
	left := min(RoomLeft, s.MaxBytes/100)
	return s.Bytes+uint64(left) > uint64(s.MaxBytes)
}

// IngestBehind is how long a message has waited to be moved into the log store when that is
// worth saying: it moves them in batches.
const IngestBehind = 10 * time.Second

// IngestBacklog is what waits on a stream to be moved into the log store.
type IngestBacklog struct {
	Stream   string `json:"stream"`
	Messages uint64 `json:"messages"`
	// Unavailable says that the stream does not answer: nothing else is known of it.
	Unavailable bool      `json:"unavailable,omitempty"`
	Since       time.Time `json:"since,omitzero"` // when the oldest of them came
	// PerSecond is by how many fewer wait with each second, while it is behind; 0 when no
	// fewer do, and when nobody has measured. See the forecast of package bus.
	PerSecond float64 `json:"per_second,omitzero"`
}

// Behind reports whether more waits than what a batch takes.
func (b *IngestBacklog) Behind(now time.Time) bool {
	return !b.Since.IsZero() && now.Sub(b.Since) >= IngestBehind
}
