package logfile

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// page collects lines from chunks that come in the order of their first lines,
// rising, or falling for a tail. Chunks overlap where lines arrived twice; of each
// line, the one from the chunk that was written first counts.
type page struct {
	filter *logstore.LineFilter // its bounds are set
	lines  []runlog.Line        // settled
	window map[int64]source     // lines that a chunk to come may have too, by seq
}

// source is a line and the chunk that it was read from.
type source struct {
	chunk int64
	line  runlog.Line
}

func newPage(f *logstore.LineFilter) *page {
	return &page{filter: f, window: map[int64]source{}}
}

func (p *page) full() bool { return len(p.lines) >= p.filter.Limit }

func (p *page) add(chunk int64, lines []runlog.Line) {
	// A chunk to come begins at this one's first line or beyond; for a tail, it ends
	// before maxChunkLines from there.
	first := lines[0].Seq
	p.settle(func(seq int64) bool {
		if p.filter.Tail {
			return seq >= first+maxChunkLines
		}
		return seq < first
	})
	for _, l := range lines {
		had, ok := p.window[l.Seq]
		if l.Seq >= p.filter.FromSeq && l.Seq <= p.filter.ToSeq && (!ok || chunk < had.chunk) {
			p.window[l.Seq] = source{chunk: chunk, line: l}
		}
	}
}

// settle moves lines of the window to those that are sure.
func (p *page) settle(sure func(seq int64) bool) {
	for seq, s := range p.window {
		if !sure(seq) {
			continue
		}
		delete(p.window, seq)
		if len(p.filter.Levels) == 0 || slices.Contains(p.filter.Levels, s.line.Level) {
			p.lines = append(p.lines, s.line)
		}
	}
}

func (p *page) finish() []runlog.Line {
	p.settle(func(int64) bool { return true })
	slices.SortFunc(p.lines, func(a, b runlog.Line) int { return cmp.Compare(a.Seq, b.Seq) })
	switch extra := len(p.lines) - p.filter.Limit; {
	case extra <= 0:
		return p.lines
	case p.filter.Tail:
		return p.lines[extra:]
	default:
		return p.lines[:p.filter.Limit]
	}
}
