package shard

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// runPieces is how far a run has come that is done in several of them.
type runPieces struct {
	bus.Pieces // but for States
	states     []byte

	rule   *bus.TriggerBody // nil once there are pieces
	atOnce int              // 0: there is no limit
	body   body             // of the pieces' triggers

	sending bool // it is among those that have pieces to trigger
	changed bool // the stream does not know yet how far it has come
}

// newRunPieces returns the pieces of a run with the given body. There are none yet.
func newRunPieces(of body) (*runPieces, error) {
	p := &runPieces{rule: &bus.TriggerBody{}}
	if err := json.Unmarshal([]byte(of.text), p.rule); err != nil {
		return nil, fmt.Errorf("decode trigger body: %w", err)
	}
	p.atOnce = p.rule.AtOnce
	if p.rule.Map != nil {
		p.atOnce = p.rule.Map.AtOnce
	}
	// Whether a piece is tried again depends on all the others, so executors cannot say.
	p.rule.Retry = job.Retry{}
	var err error
	p.body, err = encodeBody(&journal.Body{TriggerBody: *p.rule})
	return p, err
}

// lay makes n waiting pieces.
func (p *runPieces) lay(n int) {
	if n > 0 {
		p.states, p.rule = bytes.Repeat([]byte{bus.PieceWaiting}, n), nil
	}
}

func (p *runPieces) total() int { return len(p.states) }

// in returns how many pieces are in one of the given states.
func (p *runPieces) in(states string) int {
	n := 0
	for i := range len(states) {
		n += bytes.Count(p.states, []byte{states[i]})
	}
	return n
}

// out returns how many are with the executors.
func (p *runPieces) out() int { return p.in(string(bus.PieceTriggered) + string(bus.PieceBegun)) }

// become puts all pieces that are in one state into another, and reports whether
// there were any.
func (p *runPieces) become(from, to byte) bool {
	found := bytes.IndexByte(p.states, from) >= 0
	if found {
		p.states = bytes.ReplaceAll(p.states, []byte{from}, []byte{to})
	}
	return found
}

// letters tells the state of a piece from its final status.
var letters = map[job.Status]byte{
	job.StatusSucceeded: bus.PieceSucceeded, job.StatusFailed: bus.PieceFailed, job.StatusTimedOut: bus.PieceTimedOut,
	job.StatusLost: bus.PieceLost, job.StatusCancelled: bus.PieceCancelled, job.StatusMissed: bus.PieceMissed,
}

// repeated are the letters of such ends.
const repeated = "FOL"

// end notes the end of a piece. It returns false when that is of no account.
func (p *runPieces) end(index int, s job.Status, again bool) bool {
	if index >= len(p.states) || p.states[index] != bus.PieceTriggered && p.states[index] != bus.PieceBegun {
		return false
	}
	p.states[index] = letters[s]
	if again {
		p.states[index] -= 'a' - 'A'
	}
	return true
}

// keep keeps the result of a piece, if it is whole and there is room for it.
func (p *runPieces) keep(index int, result json.RawMessage, cut bool) {
	size := len("[]") + len("null,")*p.total() + len(result)
	for _, other := range p.Results {
		size += len(other)
	}
	switch {
	case len(result) == 0:
		return
	case cut, size > bus.MaxResults:
		p.Cut = true
		return
	}
	for len(p.Results) <= index {
		p.Results = append(p.Results, json.RawMessage("null"))
	}
	p.Results[index] = result
}

// results returns a list of what the pieces have returned, nil when that is nothing.
func (p *runPieces) results() json.RawMessage {
	if len(p.Results) == 0 {
		return nil
	}
	return p.list()
}

// list is the same, but with a null for each piece that has returned nothing, even if none has.
func (p *runPieces) list() json.RawMessage {
	list := []byte{'['}
	for i := range p.total() {
		if i > 0 {
			list = append(list, ',')
		}
		if i < len(p.Results) {
			list = append(list, p.Results[i]...)
		} else {
			list = append(list, "null"...)
		}
	}
	return append(list, ']')
}

// again returns how many pieces the next attempt is to repeat; 0 when the run has
// succeeded without them, or would not with all of them.
func (p *runPieces) again(rule job.Share) int {
	n, good, need := p.in(repeated), p.in(string(bus.PieceSucceeded)), rule.Of(p.total())
	if p.Cancelled != "" || good >= need || good+n < need {
		return 0
	}
	return n
}

// outcome returns how a run has ended whose pieces all have, and why.
func (p *runPieces) outcome(rule job.Share) (job.Status, string) {
	good, total := p.in(string(bus.PieceSucceeded)), p.total()
	if good == total {
		return job.StatusSucceeded, ""
	}
	tally := []string{reason.PiecesSucceeded.With(good, total)}
	for _, bad := range []struct {
		states string
		text   reason.One
	}{
		{"fF", reason.PiecesFailed}, {"oO", reason.PiecesTimedOut}, {"lL", reason.PiecesLost}, {"m", reason.PiecesMissed}, {"c", reason.PiecesCancelled},
	} {
		if n := p.in(bad.states); n > 0 {
			tally = append(tally, bad.text.With(n))
		}
	}
	text := reason.Join(tally...)
	switch {
	case p.Cancelled != "":
		return job.StatusCancelled, reason.Join(p.Cancelled, text)
	case p.in("c") > 0:
		return job.StatusCancelled, text
	case good >= rule.Of(total):
		return job.StatusSucceeded, reason.Join(text, reason.PiecesNeeded.With(rule))
	case p.in("fF") > 0 || good > 0 && p.in("oOlL") == 0:
		return job.StatusFailed, text
	case p.in("oO") > 0:
		return job.StatusTimedOut, text
	case p.in("lL") > 0:
		return job.StatusLost, text
	default:
		return job.StatusMissed, text
	}
}

// deferred returns the item that says how far the run has come.
func (p *runPieces) deferred(due int64) *journal.Deferred {
	state := p.Pieces
	state.States = string(p.states)
	return &journal.Deferred{Kind: journal.DeferredPieces, Due: instantOrZero(due), Pieces: &state}
}

// overdue returns the instant, in milliseconds, after which triggered pieces count as not begun; 0 if
// there is none.
func (p *runPieces) overdue() int64 {
	if p.StartBy.IsZero() || p.in(string(bus.PieceTriggered)) == 0 {
		return 0
	}
	return p.StartBy.Add(startMargin).UnixMilli()
}
