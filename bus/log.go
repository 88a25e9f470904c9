package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/loglevel"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Bounds of log messages.
const (
	MaxLogText  = 32 << 10  // bytes of one line; executors cut longer ones
	MaxLogBatch = 256 << 10 // bytes of text in one message
)

// Level grades a log line.
type Level string

// The levels of log lines.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Output names where a log line came from.
type Output string

// The sources of log lines.
const (
	OutputStdout Output = "stdout"
	OutputStderr Output = "stderr"
	OutputLog    Output = "log"    // written by a handler through its logger
	OutputSystem Output = "system" // written by the executor about the run
)

// Log is some lines of one attempt's log, in order.
type Log struct {
	RunID   job.RunID `json:"run_id"`
	Job     job.Name  `json:"job"`
	Attempt int       `json:"attempt"`
	Piece
	Instance string    `json:"instance"`
	Lines    []LogLine `json:"lines"`
	// Last says that no line of an attempt whose end has [Event.LogOpen] comes after these, which may be none.
	Last bool `json:"last,omitempty"`
	// Refused is why lines that came with these cannot be read, an *InvalidError each.
	Refused []error `json:"-"`
}

// LogBlock is the room of line numbers that each delivery of an attempt has.
const LogBlock = 1_000_000_000

// LogBase returns the number before the first line's of an attempt's nth delivery.
// An executor that takes an attempt over from one that went silent counts its lines
// in a block of its own, so that they are told from those of the other.
func LogBase(delivery int) int64 { return int64(max(delivery, 1)-1) * LogBlock }

// LogLine is one line, without its end. Seq counts from 1 within the attempt's first
// delivery, from LogBase(n)+1 within its nth, so that a line that arrives twice is
// known.
type LogLine struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Level  Level     `json:"level"`
	Output Output    `json:"output"`
	Text   string    `json:"text"`
}

// Msg returns l as a message for LOG, with the token of the attempt's trigger.
func (l *Log) Msg(token string) (*nats.Msg, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode log of run %s: %w", l.RunID, err)
	}
	m := NewMessage(SubjectLog(l.Job.Group(), l.RunID), MessageLog, data)
	if token != "" {
		m.Header[HeaderToken] = []string{token}
	}
	return m, nil
}

// MsgsWithin is [Log.Msg] for a NATS with that max_payload; 0 is unknown. Lines that do not fit into one
// message come in several, as [Log.MsgWithin] makes them.
func (l *Log) MsgsWithin(token string, maxPayload int64) (all []*nats.Msg, err error) {
	rest := *l
	for more := true; more; more = len(rest.Lines) > 0 {
		m, n, err := rest.MsgWithin(token, maxPayload)
		if err != nil {
			return nil, err
		}
		all, rest.Lines = append(all, m), rest.Lines[n:]
	}
	return all, nil
}

// MsgWithin is [Log.Msg] of as many of the first lines as a NATS with that max_payload takes in one
// message; it returns how many. NATS refuses a larger message every time, which would keep all lines
// behind it. So a line that does not fit into one is cut.
func (l *Log) MsgWithin(token string, maxPayload int64) (m *nats.Msg, lines int, err error) {
	most := MaxLogBatch
	if maxPayload > 0 {
		most = min(most, int(maxPayload)-headroom)
	}
	part := *l
	for {
		if m, err = part.Msg(token); err != nil {
			return nil, 0, err
		}
		n, excess := len(part.Lines), len(m.Data)-most
		switch {
		case excess > 0 && n > 1:
			part.Lines = part.Lines[:max(n*most/len(m.Data), 1)]
		case excess > 0 && n == 1 && len(part.Lines[0].Text) > leastLine:
			line := part.Lines[0] // escaped, each of its bytes may take six
			line.Text = clip.Text(line.Text, max(len(line.Text)-excess-len("…"), len(line.Text)/2))
			part.Lines = []LogLine{line}
		default: // it fits, or cannot be made to
			return m, n, nil
		}
	}
}

// leastLine is what is left of a line, in bytes, at least.
const leastLine = 64

// DecodeLog reads log lines that arrived on subject, either as published
// (log.<group>.<run>) or as stored (log.<group>), and checks that who sent them may: the
// token must be that of the attempt, and the job of the group that publishes there. Lines
// that cannot be read cost none of the others: they are left out, and said to be; a text
// that is too long is cut. A line of a program's output has the level that it says it has, if
// that is plain, whatever stream it was printed on. The error is an *InvalidError.
func (t *Tokens) DecodeLog(subject string, header nats.Header, data []byte) (*Log, error) {
	l := &Log{}
	if err := needsKind(header, MessageLog); err != nil {
		return nil, err
	}
	if err := Decode(header, MessageLog, data, l); err != nil {
		if l = salvageLog(data); l == nil {
			return nil, err
		}
	}
	for i := range l.Lines {
		line := &l.Lines[i]
		line.Text = cutText(line.Text, MaxLogText)
		if line.Output == OutputStdout || line.Output == OutputStderr {
			if level, ok := loglevel.Of(line.Text); ok {
				line.Level = Level(level)
			}
		}
	}
	if _, err := job.ParseRunID(string(l.RunID)); err != nil {
		return nil, err
	}
	if _, err := job.ParseName(string(l.Job)); err != nil {
		return nil, err
	}
	if _, err := t.speaker(header.Get(HeaderToken), MessageLog, data, &attempt{job: l.Job, run: l.RunID, attempt: l.Attempt, Piece: l.Piece}); err != nil {
		return nil, err
	}
	group, _, _ := strings.Cut(strings.TrimPrefix(subject, "log."), ".")
	if l.Job.Group() != group {
		return nil, job.Invalid("job", "%q is not of group %q", l.Job, group)
	}
	if l.Attempt < 1 {
		return nil, job.Invalid("attempt", "must be 1 or more")
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// salvageLog reads the lines of a message one by one. It returns nil when it cannot be read
// whose they are.
func salvageLog(data []byte) *Log {
	lines := struct {
		*Log
		Lines []json.RawMessage `json:"lines"`
	}{Log: &Log{}}
	if json.Unmarshal(withoutNaN(data), &lines) != nil {
		return nil
	}
	for i, raw := range lines.Lines {
		line := LogLine{}
		if json.Unmarshal(raw, &line) != nil {
			lines.Refused = append(lines.Refused, job.Invalid("lines", "%d: %s is not understood", i, cutText(string(raw), 64)))
			continue
		}
		lines.Log.Lines = append(lines.Log.Lines, line)
	}
	return lines.Log
}
