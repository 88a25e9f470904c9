package shard

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// Events is the position of the shard in EVT, and the ends of attempts behind it that have had no
// effect yet.
type Events struct {
	seq  uint64    // up to which events have been told
	made time.Time // when the EVT of seq was created; zero: not known
	ends []*end    // in the order of their sequences
}

// end is the end of an attempt, as an event told it.
type end struct {
	seq      uint64 // of the event
	at       int64  // when it was stored, by JetStream's clock
	run      job.RunID
	job      job.Name
	attempt  int
	status   job.Status
	exitCode *int
	result   json.RawMessage
	retry    bool          // the executor has said that another attempt follows
	final    bool          // or that none may
	after    time.Duration // it wants the next one so long after this end; 0 leaves that to the rule
	piece    bus.Piece
	cut      bool  // the result is not all that was returned
	begun    bool  // it is no end, but the beginning of what had to begin in time
	ping     *ping // it is no end, but what was told of a run that is done elsewhere
}

// resultCut reports whether an event of a success says that its result is not all that was returned.
func resultCut(e *bus.Event) bool {
	if e.Status != job.StatusSucceeded || e.Message == "" {
		return false
	}
	for said := reason.Read(e.Message); ; said = *said.And {
		switch said.Code {
		case reason.ResultCut.Code, reason.ResultLeftOut.Code, reason.EndTooLarge.Code:
			return true
		}
		if said.And == nil {
			return false
		}
	}
}

// Seq returns the sequence of EVT up to which events have been told.
func (es *Events) Seq() uint64 { return es.seq }

// Begin enters the identity of EVT, before any of its events: when it was created, and
// its last sequence. If the machine's position is not one of it, because EVT was created anew
// or lost its end, the events that it has are told again from the first one on. Those that
// had their effect have none the second time.
func (es *Events) Begin(made time.Time, last uint64) {
	if !es.Knows(es.seq, made, last) {
		es.seq = 0
	}
	es.made = made
}

// Knows reports whether seq, which Seq returned before, is a position in the EVT
// that was created at an instant and then ended with last.
func (es *Events) Knows(seq uint64, made time.Time, last uint64) bool {
	return seq <= last && (es.made.IsZero() || es.made.Equal(made))
}

// Skip reports that no event up to seq concerns this shard: while [Machine.NeedsEvents] was
// false they were not read.
func (es *Events) Skip(seq uint64) { es.seq = max(es.seq, seq) }

// pass moves the position to seq. It returns false for an event that has come before.
func (es *Events) pass(seq uint64) bool {
	if seq <= es.seq {
		return false
	}
	es.seq = seq
	return true
}

// save enters the position in the cursor of a batch.
func (es *Events) save(c *journal.Cursor) { c.EventSeq, c.EventsMade = es.settled(), es.made }

// settled returns the sequence up to which events have had their effect.
func (es *Events) settled() uint64 {
	if len(es.ends) > 0 {
		return es.ends[0].seq - 1
	}
	return es.seq
}

// toldEnds returns the attempts of whose end the machine was told, and that has had no
// effect yet.
func (es *Events) toldEnds() map[bus.AttemptRef]bool {
	ends := make(map[bus.AttemptRef]bool, len(es.ends))
	for _, e := range es.ends {
		if !e.begun && e.ping == nil {
			ends[bus.AttemptRef{RunID: e.run, Attempt: e.attempt, Index: e.piece.Index}] = true
		}
	}
	return ends
}
