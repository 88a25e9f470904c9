package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// PingKind is which part of a run elsewhere a ping reports.
type PingKind string

// The kinds of ping.
const (
	PingStart PingKind = "start" // it has begun
	PingEnd   PingKind = "end"   // it has ended
)

// Bounds of a ping, in bytes but for the age.
const (
	MaxPingKey     = 64
	MaxPingHost    = 255
	MaxPingMessage = 1 << 10
	MaxPingOutput  = 64 << 10
	MaxPingAge     = 7 * 24 * time.Hour
)

// Ping is a message of EVT, beside the events of the job's shard: somebody who holds a token of the job says
// that a run of it, which is done elsewhere, has begun or ended. Only servers write pings. It has ages and no
// instants, as nothing is known of the clock of who pings.
type Ping struct {
	ID   string   `json:"ping"` // 16 hexadecimal digits
	Job  job.Name `json:"job"`
	Kind PingKind `json:"kind"`
	// Key identifies a run among those of the job; "" if the sender sets none. It is 1 to [MaxPingKey] letters, digits,
	// '.', '_' and '-'.
	Key string `json:"run,omitempty"`
	// Age is for how long it had been so when the server took the ping.
	Age job.Duration `json:"age,omitempty"`

	// Of an end: Took is how long the run took; 0 is not known.
	Took     job.Duration `json:"took,omitempty"`
	ExitCode *int         `json:"exit_code,omitempty"`
	Failed   bool         `json:"failed,omitempty"` // whatever the exit code is
	Message  string       `json:"message,omitempty"`
	// Output is what the run has printed, without OutputCut bytes of its middle.
	Output    string `json:"output,omitempty"`
	OutputCut int    `json:"output_cut,omitempty"`

	Host string `json:"host,omitempty"`
	// By is the id of the token with which the ping came.
	By string `json:"by,omitempty"`
	// UTCOffset is that of who pings, in minutes; nil if it is not told.
	UTCOffset *int `json:"utc_offset,omitempty"`
}

// Status returns how the run has ended by an end.
func (p *Ping) Status() job.Status {
	if p.Failed || p.ExitCode != nil && *p.ExitCode != 0 {
		return job.StatusFailed
	}
	return job.StatusSucceeded
}

// Of what the id and the key of a ping are made.
const (
	pingIDChars  = "0123456789abcdef"
	pingKeyChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
)

// Check returns an *InvalidError for what a ping cannot be.
func (p *Ping) Check() error {
	if _, err := job.ParseName(string(p.Job)); err != nil {
		return err
	}
	switch {
	case len(p.ID) != 16 || strings.Trim(p.ID, pingIDChars) != "":
		return job.Invalid("ping", "is not valid")
	case p.Kind != PingStart && p.Kind != PingEnd:
		return job.Invalid("kind", "%.20q must be start or end", p.Kind)
	case len(p.Key) > MaxPingKey || strings.Trim(p.Key, pingKeyChars) != "":
		return job.Invalid("run", "must be 1 to %d letters, digits, '.', '_' and '-'", MaxPingKey)
	case p.Age < 0 || p.Age.Std() > MaxPingAge:
		return job.Invalid("age", "%s must be between 0s and %s", p.Age, job.Duration(MaxPingAge))
	case p.Took < 0:
		return job.Invalid("took", "%s must not be negative", p.Took)
	case p.ExitCode != nil && (*p.ExitCode < 0 || *p.ExitCode > 255):
		return job.Invalid("exit", "%d must be between 0 and 255", *p.ExitCode)
	case len(p.Message) > MaxPingMessage:
		return job.Invalid("message", "has %d bytes; at most %d are allowed", len(p.Message), MaxPingMessage)
	case len(p.Host) > MaxPingHost:
		return job.Invalid("host", "has %d bytes; at most %d are allowed", len(p.Host), MaxPingHost)
	case len(p.Output) > MaxPingOutput || p.OutputCut < 0:
		return job.Invalid("output", "has %d bytes; at most %d are allowed", len(p.Output), MaxPingOutput)
	}
	return nil
}

// ServerPing returns p as a message for EVT, in a cluster of so many shards. repeat tells pings apart: within
// its window of duplicates, JetStream stores one of those with the same. The error is an *InvalidError.
func (t *Tokens) ServerPing(p *Ping, repeat string, shards int, now time.Time) (*nats.Msg, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode ping of job %s: %w", p.Job, err)
	}
	m := NewMessage(SubjectEvent(p.Job.Shard(shards), p.Job.Group()), MessagePing, data)
	t.Vouch(m, now)
	// Nobody else can know the id, and with it take a ping's place.
	m.Header.Set(nats.MsgIdHdr, "ping:"+t.signer(now).token(func(dst []byte) []byte {
		return append(append(append(append(dst, domainPing...), p.Job...), 0), repeat...)
	}, nil))
	return m, nil
}

// IsPing reports whether a message of EVT is a ping, by its header.
func IsPing(header nats.Header) bool { return header.Get(HeaderMessage) == MessagePing }

// DecodePing reads a ping that arrived on subject. It checks that a server has written it, for the shard and
// the group of the job. The error is an *InvalidError.
func (t *Tokens) DecodePing(subject string, header nats.Header, data []byte, shards int) (*Ping, error) {
	if err := needsKind(header, MessagePing); err != nil {
		return nil, err
	}
	by, err := t.speaker(header.Get(HeaderToken), MessagePing, data, &attempt{})
	if err != nil {
		return nil, err
	}
	if by != server {
		return nil, job.Invalid("kind", "is for servers only")
	}
	p := &Ping{}
	if err := Decode(header, MessagePing, data, p); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	shard, group, ok := ParseSubjectEvent(subject)
	if !ok || group != p.Job.Group() || shard != p.Job.Shard(shards) {
		return nil, job.Invalid("subject", "%q does not fit %s", subject, p.Job)
	}
	return p, nil
}
