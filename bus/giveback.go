package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// NakAdvisories matches where JetStream tells which triggers of a stream were given back; see
// [ParseNakAdvisory].
func NakAdvisories(stream string) string { return nakAdvisory + stream + ".*" }

const nakAdvisory = "$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED."

// ParseNakAdvisory returns the group whose trigger was given back, where that is, how often
// it had been delivered. The group is "" for anything else.
func ParseNakAdvisory(subject string, data []byte) (group string, at Position, delivery int) {
	stream, consumer, _ := strings.Cut(strings.TrimPrefix(subject, nakAdvisory), ".")
	if group = GroupOfConsumer(stream, consumer); group == "" {
		return "", Position{}, 0
	}
	var a struct {
		Seq        uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
	}
	if json.Unmarshal(data, &a) != nil {
		return "", Position{}, 0
	}
	return group, Position{stream, a.Seq}, a.Deliveries
}

// Bounds of the time after which a trigger comes again that was given back.
const (
	GiveBackMin = time.Second
	GiveBackMax = 15 * time.Second
)

// GiveBackAfter returns after how long a trigger is to come again that has been delivered
// so often: later each time, so that what nobody can do does not go round and round.
func GiveBackAfter(delivery int) time.Duration {
	return min(GiveBackMin<<min(max(delivery-1, 0), 8), GiveBackMax)
}

// NakAfter is the answer to a trigger that gives it back, to be delivered again after some
// time: a plain -NAK would have it delivered at once, whatever its consumer says.
func NakAfter(d time.Duration) string { return fmt.Sprintf(`-NAK {"delay": %d}`, d.Nanoseconds()) }
