package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon/job"
	"carillon/job/fleet"
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

// suspendedBy is what one node says of the instances that it has suspended.
type suspendedBy struct {
	At          time.Time    `json:"at"`
	Suspensions []Suspension `json:"suspensions"`
}

const suspendedPrefix = "suspended."

// SubjectSuspended is where servers tell each other of a [Suspension].
const SubjectSuspended = "sched.suspended"

// NakAdvisories matches where JetStream tells which triggers were given back; see
// [ParseNakAdvisory].
const NakAdvisories = nakAdvisory + "*"

const nakAdvisory = "$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED." + StreamTrig + "."

// ParseNakAdvisory returns the group whose trigger was given back, its sequence on the
// stream, how often it had been delivered, and whether executors pull it. The group is "" for
// anything else.
func ParseNakAdvisory(subject string, data []byte) (group string, seq uint64, delivery int, pulled bool) {
	consumer := strings.TrimPrefix(subject, nakAdvisory)
	if group = GroupOfConsumer(consumer); group == "" {
		return "", 0, 0, false
	}
	var a struct {
		Seq        uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
	}
	if json.Unmarshal(data, &a) != nil {
		return "", 0, 0, false
	}
	return group, a.Seq, a.Deliveries, consumer == ConsumerAny(group)
}

// PutSuspensions says what a node has suspended. It is repeated every some seconds while
// there is any, and said once more when there is none. The error is job.ErrUnavailable.
func (c *Conn) PutSuspensions(ctx context.Context, node string, list []Suspension) error {
	return c.putMeasured(ctx, measured{suspendedPrefix + node, "the suspended instances"}, suspendedBy{time.Now().UTC(), list})
}

// Suspensions returns what is suspended, as all nodes say it that have lately, in the order
// of groups and instances. The error is job.ErrUnavailable.
func (c *Conn) Suspensions(ctx context.Context, now time.Time) ([]Suspension, error) {
	newest, err := newestMeasured[suspendedBy](ctx, c, suspendedPrefix, "suspended instances")
	if err != nil {
		return nil, err
	}
	all := map[[2]string]Suspension{}
	for _, by := range newest {
		for _, s := range by.Suspensions {
			key := [2]string{s.Group, s.Instance}
			if now.Sub(by.At) < parkedFor && now.Before(s.Until) && all[key].Until.Before(s.Until) {
				all[key] = s
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), compareSuspensions), nil
}

// suspend sets the state of an instance that takes work but is suspended.
func suspend(i *fleet.Instance, all []Suspension) {
	for _, s := range all {
		if s.Group == i.Group && s.Instance == i.Instance && (i.State == fleet.InstanceOnline || i.State == fleet.InstanceIncompatible) {
			i.State, i.Reason = fleet.InstanceSuspended, s.Text()
		}
	}
}

// Text says why, and until when.
func (s *Suspension) Text() string {
	return fmt.Sprintf("%s; suspended until %s", s.Reason, s.Until.UTC().Format(time.RFC3339))
}

// Validate reports what is wrong with s as an *InvalidError.
func (s *Suspension) Validate() error {
	if err := job.CheckSlug("executor_group", s.Group); err != nil || s.Instance == "" {
		return err
	}
	return job.CheckSlug("instance", s.Instance)
}

func compareSuspensions(a, b Suspension) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Instance, b.Instance))
}
