package bus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// Mark is an event of a run that has ended: what somebody says of it. It comes from the
// API and never from executors, whose credentials do not reach its subject.
type Mark struct {
	RunID   job.RunID `json:"run_id"`
	Job     job.Name  `json:"job"`
	Version int       `json:"version"`
	Attempt int       `json:"attempt"` // the newest
	Cause   job.Cause `json:"cause"`
	// Status is how it has ended, which the mark does not change.
	Status job.Status `json:"status"`
	As     job.Mark   `json:"as"`
	Note   string     `json:"note"`
	By     string     `json:"by"`
	// At is when it was made. Of several marks the latest counts.
	At time.Time `json:"at"`
}

// SubjectMark returns where marks of a shard's runs go, beside their events.
func SubjectMark(shard int, group string) string {
	return "mark." + strconv.Itoa(shard) + "." + group
}

// SubjectMarks matches [SubjectMark] of all shards; group may be "*".
func SubjectMarks(group string) string { return "mark.*." + group }

// IsMark reports whether a message of EVT is a mark, rather than an event of an executor.
func IsMark(subject string) bool { return strings.HasPrefix(subject, "mark.") }

// Msg returns m as a message for EVT, in a cluster of so many shards.
func (m *Mark) Msg(shards int) (*nats.Msg, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode mark of run %s: %w", m.RunID, err)
	}
	msg := NewMessage(SubjectMark(m.Job.Shard(shards), m.Job.Group()), MessageMark, data)
	msg.Header.Set(nats.MsgIdHdr, string(m.RunID)+":mark:"+strconv.FormatInt(m.At.UnixMilli(), 36))
	return msg, nil
}

// DecodeMark is the inverse of [Mark.Msg]. The error is an *InvalidError.
func DecodeMark(header nats.Header, data []byte) (*Mark, error) {
	m := &Mark{}
	if err := Decode(header, MessageMark, data, m); err != nil {
		return nil, err
	}
	return m, m.check()
}

func (m *Mark) check() error {
	if _, err := job.ParseRunID(string(m.RunID)); err != nil {
		return err
	}
	if _, err := job.ParseName(string(m.Job)); err != nil {
		return err
	}
	switch {
	case m.Attempt < 1:
		return job.Invalid("attempt", "must be 1 or more")
	case !m.Status.Marks():
		return job.Invalid("status", "%q must be failed, timed_out, cancelled, lost or missed", m.Status)
	case m.At.IsZero():
		return job.Invalid("at", "is missing")
	}
	return job.CheckMark(m.As, m.Note)
}
