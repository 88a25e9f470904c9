package bus

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Heartbeat is what an instance publishes about itself: what everybody may see, and the
// secret part of the subjects on which it takes requests. Only servers read heartbeats.
// What they show is the [fleet.Instance] in it.
type Heartbeat struct {
	fleet.Instance
	// ControlSecret is new each time the instance starts; see [NewControlSecret].
	ControlSecret string `json:"control_secret,omitempty"`
	// Bridge tells who serves the instance, if it is not a program of its own: a bridge, another
	// one each time that it starts.
	Bridge string `json:"bridge,omitempty"`
	// Pack is how many triggers of a pack the instance can begin at once, see [IsPack]; 0: it takes none.
	Pack int `json:"pack,omitempty"`
}

// Address returns where the instance takes requests.
func (h *Heartbeat) Address() Address {
	return NewAddress(h.Group, h.Instance.Instance, h.ControlSecret)
}

// ParseHeartbeat reads the entry of [BucketInst] that has a key. The error is a
// [job.ErrInvalid] when it is not what an instance of that name would write.
func ParseHeartbeat(key string, value []byte) (*Heartbeat, error) {
	var h Heartbeat
	if err := json.Unmarshal(value, &h); err != nil {
		return nil, job.Invalid("heartbeat", "of %q is damaged: %v", key, err)
	}
	group, instance, _ := strings.Cut(key, ".")
	if h.Group != group || h.Instance.Instance != instance || job.CheckSlug("executor_group", group) != nil || job.CheckSlug("instance", instance) != nil {
		return nil, job.Invalid("heartbeat", "of %q does not fit %s", key, h.Key())
	}
	if !validSecret(h.ControlSecret) {
		return nil, job.Invalid("control_secret", "of %q is not valid", key)
	}
	h.Reason, h.RefusedFor = "", nil // servers say these
	h.Instance.Pack = min(h.Pack, MaxTriggers)
	if h.Refused = max(h.Refused, 0); h.Refusal != nil {
		*h.Refusal = h.Refusal.Clipped()
	}
	return &h, nil
}

// SubjectHeartbeat returns where an instance publishes its heartbeat; instance may be "*".
func SubjectHeartbeat(group, instance string) string {
	return SubjectHeartbeats + group + "." + instance
}

// SubjectHeartbeats begins the subjects of heartbeats; their keys follow.
const SubjectHeartbeats = "$KV." + BucketInst + "."

// FirstHeartbeat returns m with the condition that the last message of its instance is the
// one at a sequence, 0 for none.
func FirstHeartbeat(m *nats.Msg, seq uint64) *nats.Msg {
	first := nats.NewMsg(m.Subject)
	first.Data = m.Data
	first.Header.Set(nats.ExpectedLastSubjSeqHdr, strconv.FormatUint(seq, 10))
	return first
}
