package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// mappedPlay is a step of a random workflow that is done in pieces, in its newest round.
type mappedPlay struct {
	begun    bool // and not over
	failures []int
	good     []bool // whether each piece succeeds at last
	out      map[int]*bus.Trigger
	done     map[int]bool // pieces that have succeeded
}

// mostPieces bounds the pieces of a step.
const mostPieces = 4

// mapStep has a step done in pieces: of a number, or of a list, which may be no list.
func (w *stepWorld) mapStep(s *job.Step) {
	s.Map = &job.Map{AtOnce: w.rng.IntN(3)}
	lists := []string{"${params.list}", "${params.list}", "${params.none}", "${params.x}"}
	for _, e := range s.After {
		if s.Join.Least == 0 {
			lists = append(lists, "${results."+e.Step+"?}")
		}
	}
	if i := w.rng.IntN(len(lists) + 2); i < len(lists) {
		s.Map.Over = lists[i]
	} else {
		s.Map.Pieces = 1 + w.rng.IntN(mostPieces)
	}
	if w.chance(50) {
		s.SucceedsIf = job.Share(1 + w.rng.IntN(99))
	}
}

// resultOf is what a step returns that is not done in pieces.
func resultOf(step string) []byte { return fmt.Appendf(nil, "[%q,2]", step) }

// drawPieces chooses how the pieces of a step end.
func (p *stepPlay) drawPieces(s *job.Step) {
	m := &mappedPlay{out: map[int]*bus.Trigger{}, done: map[int]bool{}}
	p.mapped[s.Name] = m
	for range mostPieces {
		m.good = append(m.good, p.w.chance(70))
		n := 0
		if s.Retry != nil {
			n = p.w.rng.IntN(s.Retry.Limit + 1)
		}
		m.failures = append(m.failures, n)
	}
}

// inPieces reports whether a step is being done in pieces.
func (p *stepPlay) inPieces(step string) bool { return p.mapped[step] != nil && p.mapped[step].begun }

// outNow returns how many steps are out, in pieces or not.
func (p *stepPlay) outNow() int {
	n := len(p.out)
	for _, m := range p.mapped {
		if m.begun {
			n++
		}
	}
	return n
}

// list returns what the pieces of a step are about, one each, or how the step ends without any.
func (p *stepPlay) list(s *job.Step) (items []string, end job.Status) {
	source, result := strings.CutPrefix(s.Map.Over, "${results.")
	source = strings.TrimSuffix(source, "?}")
	switch {
	case s.Map.Pieces > 0:
		return make([]string, s.Map.Pieces), ""
	case s.Map.Over == "${params.x}":
		return nil, job.StatusFailed
	case s.Map.Over == "${params.none}", result && (p.final[source] != job.StatusSucceeded || p.resolved[source] != ""):
		return nil, job.StatusSucceeded
	case !result:
		return []string{"10", "11", "12"}, ""
	}
	of := p.step(source)
	switch { // a wait returns no list
	case of.Wait == nil || p.taken[source]:
	case of.Wait.For != 0 || of.Wait.Until != "": // it returns nothing
		return nil, job.StatusSucceeded
	default:
		return nil, job.StatusFailed
	}
	if of.Map == nil || p.taken[source] { // with the result of any step
		return []string{fmt.Sprintf("%q", source), "2"}, ""
	}
	list, end := p.list(of)
	if end != "" {
		return nil, job.StatusSucceeded
	}
	for i := range list {
		list[i] = "null"
		if p.mapped[source].done[i] {
			list[i] = strconv.Itoa(i)
		}
	}
	return list, ""
}

// owedOfPieces returns how a step has to end whose pieces end as they will.
func (p *stepPlay) owedOfPieces(s *job.Step) job.Status {
	items, end := p.list(s)
	if end != "" {
		return end
	}
	good := 0
	for i := range items {
		if p.mapped[s.Name].good[i] {
			good++
		}
	}
	if good*100 >= cmpShare(s.SucceedsIf)*len(items) {
		return job.StatusSucceeded
	}
	return job.StatusFailed
}

// cmpShare returns how many percent of the pieces have to succeed.
func cmpShare(s job.Share) int {
	if s == 0 {
		return 100
	}
	return int(s)
}

// beginsPiece notes that a piece of a step is triggered.
func (p *stepPlay) beginsPiece(t *bus.Trigger) {
	m, s := p.mapped[t.Step], p.step(t.Step)
	if m == nil || m.out[t.Index] != nil || m.done[t.Index] {
		p.w.fail("piece %d of step %s, attempt %d, is triggered: %+v", t.Index, t.Step, t.Attempt, m)
	}
	if !m.begun { // later the list may be another: of a source that somebody has retried
		items, _ := p.list(s)
		m.begun = true
		if t.Total != len(items) || string(t.Item) != items[t.Index] {
			p.w.fail("piece %d of %d of step %s is about %s; the list is %q", t.Index, t.Total, t.Step, t.Item, items)
		}
	}
	m.out[t.Index] = t
	if most := s.Map.AtOnce; most > 0 && len(m.out) > most {
		p.w.fail("%d pieces of step %s are out, of at most %d", len(m.out), t.Step, most)
	}
}

// endPiece has a piece of a step end that an executor has.
func (p *stepPlay) endPiece() {
	w := p.w
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(p.mapped)), func(name string) bool { return len(p.mapped[name].out) == 0 })
	if len(names) == 0 {
		return
	}
	name := names[w.rng.IntN(len(names))]
	m := p.mapped[name]
	indexes := slices.Sorted(maps.Keys(m.out))
	i := indexes[w.rng.IntN(len(indexes))]
	t := m.out[i]
	delete(m.out, i)
	e := bus.EventOf(t, bus.EventFinished, noon.Add(w.now))
	switch {
	case w.killed[t.RunID]:
		e.Status, e.Final = job.StatusCancelled, true
	case t.Attempt <= m.failures[i]:
		e.Status = job.StatusFailed
	case m.good[i]:
		e.Status, e.Result = job.StatusSucceeded, fmt.Append(nil, i)
		m.done[i] = true
	default:
		e.Status, e.Final = job.StatusFailed, true
	}
	w.say("piece %d of %s, attempt %d of %s, ends as %s", i, name, t.Attempt, p.id, e.Status)
	w.events = append(w.events, e)
}
