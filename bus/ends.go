package bus

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of a pack of ends. Its size is that of its data, in bytes.
const (
	MaxEnds     = 256
	MaxEndsSize = 256 << 10
	maxEndSize  = 32 << 10 // of one end in a pack
)

// End is the end of an attempt, encoded once for either of its forms: a message of its own, or a line
// of a pack. It does not change.
type End struct {
	event *Event
	token string
	line  []byte // an event with the token as its first field
	rest  int    // where the comma after the token is
}

// NewEnd returns e, which is finished, as an end, with the token of the attempt's trigger.
func NewEnd(e *Event, token string) (*End, error) {
	o := make(object, 0, 512)
	o.text("token", token)
	rest := len(o)
	if err := e.append(&o); err != nil {
		return nil, fmt.Errorf("encode event of run %s: %w", e.RunID, err)
	}
	return &End{e, token, o.end(), rest}, nil
}

// Event returns the event that the end is. It must not be changed.
func (d *End) Event() *Event { return d.event }

// Msg is [Event.MsgWithin] of the end.
func (d *End) Msg(maxPayload int64) (*nats.Msg, error) {
	m := d.event.msg(append([]byte{'{'}, d.line[d.rest+1:]...), d.token)
	if fits(len(m.Data), maxPayload) {
		return m, nil
	}
	return d.event.MsgWithin(d.token, maxPayload)
}

// endsHead is the first line of a pack.
type endsHead struct {
	Instance string `json:"instance"`
	Ends     int    `json:"ends"` // how many lines follow
}

// PackEnds returns a message for [SubjectEnds] with as many of the ends as fit into one, from the first
// on, and how many these are: one at least. One alone is [End.Msg]. maxPayload is that of NATS; 0 is
// unknown. The message's id is its own, so that JetStream drops it if the same one is sent again.
func PackEnds(subject, instance string, ends []*End, maxPayload int64) (m *nats.Msg, n int, err error) {
	most := MaxEndsSize - maxHead - len(instance)
	if maxPayload > 0 {
		most = min(most, int(maxPayload)-headroom)
	}
	size := 0
	for n < min(len(ends), MaxEnds) && len(ends[n].line) <= maxEndSize && size+len(ends[n].line)+1 <= most {
		size += len(ends[n].line) + 1
		n++
	}
	if n < 2 {
		m, err = ends[0].Msg(maxPayload)
		return m, 1, err
	}
	data := make(object, 0, maxHead+len(instance)+size)
	data.text("instance", instance)
	data.number("ends", n)
	pack := data.end()
	for _, d := range ends[:n] {
		pack = append(append(pack, '\n'), d.line...)
	}
	m = NewMessage(subject, MessageEnds, pack)
	m.Header[nats.MsgIdHdr] = []string{"p:" + randomID()}
	return m, n, nil
}

// maxHead is more than the first line of a pack has beside the name of its instance.
const maxHead = 64

// randomID returns an id that nobody guesses.
func randomID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails: it ends the program rather than return an error
	return base64.RawURLEncoding.EncodeToString(id)
}

// endLines returns the lines of a pack that are ends. The error is an *InvalidError.
func endLines(data []byte) ([][]byte, error) {
	if len(data) > MaxEndsSize {
		return nil, job.Invalid("ends", "has %d bytes; at most %d are allowed", len(data), MaxEndsSize)
	}
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	var head endsHead
	if err := json.Unmarshal(first, &head); err != nil {
		return nil, job.Invalid("ends", "is damaged: %v", err)
	}
	if head.Ends < 1 || head.Ends > MaxEnds {
		return nil, job.Invalid("ends", "%d must be between 1 and %d", head.Ends, MaxEnds)
	}
	lines := bytes.Split(rest, []byte{'\n'})
	if len(lines) != head.Ends {
		return nil, job.Invalid("ends", "%d must be %d", head.Ends, len(lines))
	}
	return lines, nil
}

// DecodeEvents reads the events of a message that arrived on subject: what [Tokens.DecodeEvent] returns
// of an event, and the same of each end in a pack, in the order of its lines. A pack that cannot be
// taken apart is one error. partitions and shards are the cluster's. The errors are *InvalidErrors.
func (t *Tokens) DecodeEvents(subject string, header nats.Header, data []byte, stored time.Time, partitions Partitions, shards int) iter.Seq2[*Event, error] {
	return t.DecodeAbout(subject, header, data, stored, partitions, shards, func([]byte) bool { return true })
}

// DecodeAbout is DecodeEvents for who looks for some runs: it leaves out most of what is about others, at a
// small part of the cost of decoding. about says whether a run, by its id, is one of them.
func (t *Tokens) DecodeAbout(subject string, header nats.Header, data []byte, stored time.Time, partitions Partitions, shards int, about func(run []byte) bool) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if header.Get(HeaderMessage) == MessagePing {
			return // which is about a job, and [Tokens.DecodePing] reads it
		}
		if header.Get(HeaderMessage) != MessageEnds {
			if !mayBeAbout(data, about) {
				return
			}
			yield(t.DecodeEvent(subject, header, data, stored, shards))
			return
		}
		partition, group, ok := ParseSubjectEnds(subject)
		if !ok {
			yield(nil, job.Invalid("subject", "%q must be evt.p<partition>.<group>", subject))
			return
		}
		lines, err := endLines(data)
		if err != nil {
			yield(nil, err)
			return
		}
		from := source{subject, group, func(shard int) bool { return partitions.Of(shard) == partition }}
		for _, line := range lines {
			if mayBeAbout(line, about) && !yield(t.decodeEnd(line, from, stored, shards)) {
				return
			}
		}
	}
}

// mayBeAbout reports whether an event, in JSON, may be about one of the runs. It is about none if there is
// an id of a run in it, in the spelling that encoders use, and each is another's.
func mayBeAbout(data []byte, about func(run []byte) bool) bool {
	const idSize = 36
	for found := false; ; found = true {
		_, rest, has := bytes.Cut(data, []byte(`"run_id":`))
		if !has {
			return !found
		}
		rest = bytes.TrimLeft(rest, ` "`)
		if len(rest) <= idSize || rest[idSize] != '"' || about(rest[:idSize]) {
			return true
		}
		data = rest[idSize:]
	}
}

// decodeEnd reads a line of a pack.
func (t *Tokens) decodeEnd(line []byte, from source, stored time.Time, shards int) (*Event, error) {
	token := ""
	e, damage, err := parseEvent(line, MessageEnds, &token)
	switch {
	case err != nil:
		return nil, err
	case e.Kind != EventFinished:
		return nil, job.Invalid("kind", "%q must be finished", e.Kind)
	}
	if err := e.attribute(from, shards); err != nil {
		return nil, err
	}
	if err := t.verify(e, damage, token, MessageEnds, line, stored); err != nil {
		return nil, err
	}
	return e, nil
}

// tokenShape is what a token looks like.
var tokenShape = regexp.MustCompile(`[0-9a-f]{` + strconv.Itoa(keyIDSize) + `}\.[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_.-]*)?`)

// Letter returns what [Tokens.DecodeEvents] has refused of a message as its i-th event, for people to look
// at: the message itself, or, of a pack, the end as an event. Neither has a token, in its data.
func Letter(m *nats.Msg, i, shards int) *nats.Msg {
	if m.Header.Get(HeaderMessage) != MessageEnds {
		return m
	}
	letter := &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}
	if lines, err := endLines(m.Data); err == nil {
		letter.Header, letter.Data = nats.Header{HeaderMessage: {MessageEvent}}, lines[i]
		var of struct {
			Job job.Name `json:"job"`
		}
		if json.Unmarshal(lines[i], &of) == nil {
			if _, err := job.ParseName(string(of.Job)); err == nil {
				letter.Subject = SubjectEvent(of.Job.Shard(shards), of.Job.Group())
			}
		}
	}
	letter.Data = tokenShape.ReplaceAll(letter.Data, []byte("…"))
	return letter
}
