package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Suspension says that an instance gives triggers back again and again, and gets none from
// servers for a while.
type Suspension struct {
	Group string `json:"executor_group"`
	// Instance is "" when the triggers were pulled: NATS does not tell who gives those back.
	// Then servers pull them too, and hand them out.
	Instance string    `json:"instance,omitempty"`
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
}

// SubjectSuspended is where servers tell each other of a [Suspension].
const SubjectSuspended = "sched.suspended"

// NakAdvisories matches where JetStream tells which triggers of a stream were given back; see
// [ParseNakAdvisory].
func NakAdvisories(stream string) string { return nakAdvisory + stream + ".*" }

const nakAdvisory = "$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED."

// ParseNakAdvisory returns the group whose trigger was given back, where that is, how often
// it had been delivered, and whether executors pull it. The group is "" for anything else.
func ParseNakAdvisory(subject string, data []byte) (group string, at Position, delivery int, pulled bool) {
	stream, consumer, _ := strings.Cut(strings.TrimPrefix(subject, nakAdvisory), ".")
	if group = GroupOfConsumer(stream, consumer); group == "" {
		return "", Position{}, 0, false
	}
	var a struct {
		Seq        uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
	}
	if json.Unmarshal(data, &a) != nil {
		return "", Position{}, 0, false
	}
	return group, Position{stream, a.Seq}, a.Deliveries, consumer == ConsumerAny(group)
}

// Text says why, and until when.
func (s *Suspension) Text() string {
	return reason.Join(s.Reason, reason.SuspendedUntil.With(s.Until.UTC().Format(time.RFC3339)))
}

// Validate reports what is wrong with s as an *InvalidError.
func (s *Suspension) Validate() error {
	if err := job.CheckSlug("executor_group", s.Group); err != nil || s.Instance == "" {
		return err
	}
	return job.CheckSlug("instance", s.Instance)
}

// Bounds of the time after which a trigger comes again that was given back.
const (
	giveBackMin = time.Second
	giveBackMax = 15 * time.Second
)

// GiveBackAfter returns after how long a trigger is to come again that has been delivered
// so often: later each time, so that what nobody can do does not go round and round.
func GiveBackAfter(delivery int) time.Duration {
	return min(giveBackMin<<min(max(delivery-1, 0), 8), giveBackMax)
}

// NakAfter is the answer to a trigger that gives it back, to be delivered again after some
// time: a plain -NAK would have it delivered at once, whatever its consumer says.
func NakAfter(d time.Duration) string { return fmt.Sprintf(`-NAK {"delay": %d}`, d.Nanoseconds()) }
