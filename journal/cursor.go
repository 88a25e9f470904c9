package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Cursor is a shard's durable position. All fires due up to Done have had their
// effect, and for jobs up to and including Sweep.After, in the order of the jobs'
// hashes, all fires due up to Sweep.To; all events up to EventSeq have had theirs.
type Cursor struct {
	Shard int    `json:"shard"`
	Epoch uint64 `json:"epoch"` // of the owner that wrote it
	Node  string `json:"node"`
	// Commit names the batch that wrote it: an owner that does not know how its
	// batch ended reads the cursor and looks for this.
	Commit string    `json:"commit"`
	Done   time.Time `json:"done"`
	Sweep  *Sweep    `json:"sweep,omitempty"`
	// JobsSeq is a revision of JOBS: the fires of versions up to it are decided up to the
	// position, those of later ones are decided from the versions' beginnings on.
	JobsSeq uint64 `json:"jobs_seq"`
	// Jobs is a revision that JOBS has given out. A server that takes itself for the bucket's leader and
	// lacks it was cut off from the others.
	Jobs JobsMark `json:"jobs,omitzero"`
	// Begins are versions of which an owner heard late, after the version before had
	// fired in their time: their own fires begin after the last of those.
	Begins []Begin `json:"begins,omitempty"`
	// Moved has the jobs whose last fire was moved to another day.
	Moved Moved `json:"moved,omitzero"`
	// EventSeq is a sequence number of EVT. It counts only if EVT was created at EventsMade.
	// Zero means unknown.
	EventSeq   uint64    `json:"event_seq"`
	EventsMade time.Time `json:"events_made,omitzero"`
	// Released are sequence numbers of deferred items on TRIG that have had their
	// effect and are yet to be deleted.
	Released []uint64 `json:"released,omitempty"`
	// Made is when the owner claimed the shard, in a cluster with several partitions. It is later
	// than that of each earlier owner, because sequence numbers can come again: TRIG may have been
	// created again, or have lost its last messages.
	Made time.Time `json:"made,omitzero"`
	// Letters has the last item from each shard of another partition that has had its effect here.
	Letters map[int]LetterMark `json:"letters,omitempty"`
}

// JobsMark is a revision of JOBS. It counts only if that was created at Made: when it is created again,
// its revisions begin at 1.
type JobsMark struct {
	Made time.Time `json:"made"`
	Seq  uint64    `json:"seq"`
}

// Sweep is the part of an instant that is done, when one batch could not hold it.
type Sweep struct {
	To    time.Time `json:"to"`
	After job.Name  `json:"after"`
}

// Begin is a version whose fires begin later than the version itself says.
type Begin struct {
	Job     job.Name  `json:"job"`
	Version int       `json:"version"`
	After   time.Time `json:"after"` // as EffectiveFrom: fires after this instant are the version's
}

// Moved lists jobs with a shift, each with its last fire, if calendars have moved that to another day.
// It cannot be found out later, since calendars change.
type Moved struct {
	Since time.Time   `json:"since,omitzero"` // it has all with a fire time after this instant
	Fires []MovedFire `json:"fires,omitempty"`
}

// MovedFire is the last fire of a job, which was moved to another day. It has an outcome.
type MovedFire struct {
	Job job.Name  `json:"job"`
	At  time.Time `json:"at"` // its fire time
}

// DoneFor returns the instant up to which all of a job's fires are decided.
func (c *Cursor) DoneFor(name job.Name) time.Time {
	if s := c.Sweep; s != nil && cmp.Or(cmp.Compare(name.Hash(), s.After.Hash()), cmp.Compare(name, s.After)) <= 0 {
		return s.To
	}
	return c.Done
}

// Decided reports whether all fires of a job's version are decided, which next follows. None
// are before there is a cursor.
func (c *Cursor) Decided(v, next *bus.JobEntry) bool {
	name := v.Job.Job
	if c == nil || c.JobsSeq < next.Revision {
		return false
	}
	due := next.EffectiveFrom.Add(v.Schedule.Offset(name)) // no fire of v is due later
	return !c.DoneFor(name).Before(due)
}

// Msg returns c as a message for TRIG; it replaces the cursor before it.
func (c *Cursor) Msg() (*nats.Msg, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode cursor of shard %d: %w", c.Shard, err)
	}
	return bus.NewMessage(bus.SubjectCursor(c.Shard), bus.MessageCursor, data), nil
}

// DecodeCursor is the inverse of [Cursor.Msg]. Its error is an *InvalidError.
func DecodeCursor(header nats.Header, data []byte) (*Cursor, error) {
	c := &Cursor{}
	return c, bus.Decode(header, bus.MessageCursor, data, c)
}
