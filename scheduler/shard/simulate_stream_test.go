package shard

import (
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// stream is a model of one shard's part of TRIG: batches are stored as a whole or
// not at all, and a batch whose first message expects another cursor is refused.
type stream struct {
	last      uint64
	cursor    *journal.Cursor
	cursorSeq uint64
	deferred  map[uint64]*journal.Deferred
	released  map[uint64]bool // listed by some stored cursor
}

// stored is a batch as a reader of the stream sees it.
type stored struct {
	first    uint64
	before   *journal.Cursor
	cursor   *journal.Cursor
	triggers []*bus.Trigger
	tokens   map[*bus.Trigger]string // of those
	subjects []string                // of those, pieces included
	pieces   []*bus.Trigger          // of runs that are done in them
	deferred []*journal.Deferred
	items    []uint64 // sequences of the deferred items
	record   *journal.Record
}

func newStream(at *journal.Cursor) *stream {
	return &stream{cursor: at, deferred: map[uint64]*journal.Deferred{}, released: map[uint64]bool{}}
}

// publish stores a batch, and returns nil when it is refused.
func (s *stream) publish(msgs []*nats.Msg) *stored {
	head := msgs[0]
	if expect := head.Header.Get("Nats-Expected-Last-Subject-Sequence"); expect != "" && expect != strconv.FormatUint(s.cursorSeq, 10) {
		return nil
	}
	if len(msgs) > bus.MaxBatch {
		fail("batch of %d messages", len(msgs))
	}
	if head.Header.Get("Nats-Rollup") != "sub" {
		fail("the cursor does not replace the one before it")
	}
	b := &stored{first: s.last + 1, before: s.cursor, tokens: map[*bus.Trigger]string{}}
	for i, m := range msgs {
		s.last++
		var err error
		switch m.Header.Get(bus.HeaderMessage) {
		case bus.MessageCursor:
			if i != 0 {
				fail("message %d of a batch is a cursor", i)
			}
			b.cursor, err = journal.DecodeCursor(m.Header, m.Data)
			s.cursor, s.cursorSeq = b.cursor, s.last
		case bus.MessageTrigger:
			var t *bus.Trigger
			t, err = bus.DecodeTrigger(m.Header, m.Data)
			b.triggers = append(b.triggers, t)
			b.tokens[t] = m.Header.Get(bus.HeaderToken)
			b.subjects = append(b.subjects, m.Subject)
		case bus.MessageTriggers:
			err = b.addPack(m)
		case bus.MessageDeferred:
			var d *journal.Deferred
			d, err = journal.DecodeDeferred(m.Header, m.Data)
			b.deferred = append(b.deferred, d)
			b.items = append(b.items, s.last)
			if m.Subject == bus.SubjectDeferred(simShard) {
				s.deferred[s.last] = d
			}
		case bus.MessageRecord:
			if m.Subject == bus.SubjectNotice(simShard) {
				continue // which tells a part of the record, for alerts
			}
			b.record, err = journal.DecodeRecord(m.Header, m.Data)
		default:
			fail("message of unknown kind on %s", m.Subject)
		}
		if err != nil {
			fail("decode message on %s: %v", m.Subject, err)
		}
	}
	for _, seq := range b.cursor.Released {
		s.released[seq] = true
	}
	return b
}

// remove deletes a deferred item, as its owner does once a stored cursor lists it.
func (s *stream) remove(seq uint64) {
	if !s.released[seq] {
		fail("item %d is deleted, but no stored cursor lists it", seq)
	}
	delete(s.deferred, seq)
}

// position returns up to when the job's fires are decided, as the cursor has it.
func position(c *journal.Cursor, name job.Name) int64 {
	if s := c.Sweep; s != nil {
		a, b := name.Hash(), s.After.Hash()
		if a < b || a == b && name <= s.After {
			return s.To.UnixMilli()
		}
	}
	return c.Done.UnixMilli()
}

// addPack notes the triggers of a pack.
func (b *stored) addPack(m *nats.Msg) error {
	packed, err := bus.Unpack(m.Data)
	if len(packed) < 2 {
		fail("a pack of %d triggers", len(packed))
	}
	for _, p := range packed {
		t, wrong := bus.DecodeTriggerFor(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], nil, p.Data)
		if wrong != nil {
			return wrong
		}
		if t.Delivery == job.AtMostOnce || t.Routed() || !t.StartBy.IsZero() || t.Total > 0 || t.Report == "" {
			fail("a pack has a trigger that needs a message of its own: %+v", t)
		}
		b.triggers = append(b.triggers, t)
		b.tokens[t] = p.Token
		b.subjects = append(b.subjects, m.Subject)
	}
	return err
}
