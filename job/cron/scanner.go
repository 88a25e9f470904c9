package cron

import (
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// scanner reads one item of a field's list.
type scanner struct {
	field *field
	seed  uint64
	item  string // as typed
	pos   int
}

// span is the values from, from+step, from+2*step and so on up to to, as bit numbers.
// Where to is above high the range wraps.
type span struct {
	from, to, step int
	high, wrap     int
	lone           bool // typed as a single value, to which Quartz may append W, L or #n
}

// values yields the values of the span.
func (s span) values(yield func(int) bool) {
	for v := s.from; v <= s.to; v += s.step {
		w := v
		if w > s.high {
			w -= s.wrap
		}
		if !yield(w) {
			return
		}
	}
}

// bitset is a mask of the size that a field needs.
type bitset interface {
	uint8 | uint16 | uint32 | uint64
}

// setBits adds the values of a span to a mask.
func setBits[T bitset](m *T, s span) {
	for v := range s.values {
		*m |= 1 << v
	}
}

// mask reads a field that is a list of spans and nothing else.
func mask[T bitset](p *parser, f *field, text string) (T, error) {
	var m T
	for item := range strings.SplitSeq(text, ",") {
		s := scanner{field: f, seed: p.seed, item: item}
		sp, err := s.span()
		if err != nil {
			return 0, err
		}
		if err := s.end(); err != nil {
			return 0, err
		}
		setBits(&m, sp)
	}
	return m, nil
}

// span reads *, a, a-b or H, and the step after it.
func (s *scanner) span() (span, error) {
	f := s.field
	if h, ok := f.hashOf(s.item); ok {
		return span{}, s.fail("is a random value, which cron chooses when it reads the file; write %s, a value that the job's name chooses and that stays the same", h)
	}
	if f.index >= 0 && s.accept('H') {
		return s.hashedSpan()
	}
	sp := span{from: f.low, to: f.high, step: 1}
	whole := s.accept('*') || f.quartz && s.peek() == '/'
	ranged, named := false, false
	if !whole {
		var err error
		if sp.from, named, err = s.value(); err != nil {
			return span{}, err
		}
		sp.to = sp.from
		if s.accept('-') {
			var toNamed bool
			if sp.to, toNamed, err = s.value(); err != nil {
				return span{}, err
			}
			ranged, named = true, named || toNamed
		}
	}
	if s.accept('/') {
		switch {
		case !whole && !ranged && !f.quartz:
			return span{}, s.fail(`must have a step only after "*" or a range, such as %d-%d%s`, sp.from, max(f.last(), sp.from), s.item[s.pos-1:])
		case named && f.quartz:
			return span{}, s.fail("must be in numbers, since Quartz ignores a step after a name")
		}
		most := f.maxStep
		if ranged {
			most = anyStep
		}
		var err error
		if sp.step, err = s.step(most); err != nil {
			return span{}, err
		}
		if !ranged {
			sp.to = f.high
		}
		return s.shift(sp)
	}
	sp.lone = !whole && !ranged
	return s.shift(sp)
}

// hashedSpan reads what follows H: a range in brackets and a step, both optional.
func (s *scanner) hashedSpan() (span, error) {
	f := s.field
	sp := span{from: f.low, to: f.hashHigh}
	if s.accept('(') {
		var err error
		if sp.from, _, err = s.value(); err != nil {
			return span{}, err
		}
		if !s.accept('-') {
			return span{}, s.fail("must have a range in brackets, such as H(%d-%d)", f.low, f.high)
		}
		if sp.to, _, err = s.value(); err != nil {
			return span{}, err
		}
		if !s.accept(')') {
			return span{}, s.fail("must have a closing bracket after the range")
		}
	}
	sp, err := s.shift(sp)
	if err != nil {
		return span{}, err
	}
	sp.step = 1
	count := sp.to - sp.from + 1
	if s.accept('/') {
		if sp.step, err = s.step(count); err != nil {
			return span{}, err
		}
		sp.from += hashed(s.seed, f.index, sp.step)
		return sp, nil
	}
	sp.from += hashed(s.seed, f.index, count)
	sp.to = sp.from
	return sp, nil
}

// shift turns a span from values as typed into bit numbers, and unrolls a range that
// wraps.
func (s *scanner) shift(sp span) (span, error) {
	f := s.field
	if sp.to < sp.from {
		if f.wrap == 0 {
			return span{}, s.fail("must not end before it starts%s", f.unrolled(sp))
		}
		sp.to += f.wrap
	}
	sp.from -= f.zero
	sp.to -= f.zero
	sp.high, sp.wrap = f.high-f.zero, f.wrap
	return sp, nil
}

// value reads a number or a name that is within the field's bounds.
func (s *scanner) value() (v int, named bool, err error) {
	f := s.field
	v, ok := s.number()
	if !ok {
		if v, ok = s.name(); !ok {
			return 0, false, s.fail("must be %s", f.wants())
		}
		return v, true, nil
	}
	if v < f.low || v > f.high {
		return 0, false, s.fail("must be %s", f.wants())
	}
	return v, false, nil
}

// step reads the number after a slash.
func (s *scanner) step(most int) (int, error) {
	n, ok := s.number()
	switch {
	case !ok || n == 0:
		return 0, s.fail("must have a number from 1 on after /")
	case n > most:
		return 0, s.fail("must have a step of at most %d", most)
	}
	return n, nil
}

// number reads decimal digits, at most nine.
func (s *scanner) number() (int, bool) {
	start, v := s.pos, 0
	for s.pos < len(s.item) && s.item[s.pos] >= '0' && s.item[s.pos] <= '9' {
		if s.pos-start == 9 {
			return 0, false
		}
		v = v*10 + int(s.item[s.pos]-'0')
		s.pos++
	}
	return v, s.pos > start
}

// name reads one of the field's names, in either case.
func (s *scanner) name() (int, bool) {
	if len(s.item)-s.pos < 3 {
		return 0, false
	}
	word := s.item[s.pos : s.pos+3]
	for i := 0; i < len(s.field.names); i += 3 {
		if equalFold(s.field.names[i:i+3], word) {
			s.pos += 3
			return s.field.first + i/3, true
		}
	}
	return 0, false
}

// accept reads the given character, in either case, if it comes next.
func (s *scanner) accept(c byte) bool {
	if upper(s.peek()) != c {
		return false
	}
	s.pos++
	return true
}

// peek returns the next character; 0 at the end, which is nothing that a caller looks for.
func (s *scanner) peek() byte {
	if s.pos == len(s.item) {
		return 0
	}
	return s.item[s.pos]
}

// end reports an error if the item has more text.
func (s *scanner) end() error {
	if s.pos == len(s.item) {
		return nil
	}
	if s.field == &quartzDow && (s.peek() == '#' || upper(s.peek()) == 'L') && s.pos+2 >= len(s.item) {
		return s.fail("must be the only value of the field: %c cannot be in a list; make a job for each value", upper(s.peek()))
	}
	return s.fail("must not have %q after %q; must be %s", clip.Text(s.item[s.pos:], maxQuoted), clip.Text(s.item[:s.pos], maxQuoted), s.field.wants())
}

// fail makes an error about the item.
func (s *scanner) fail(format string, args ...any) error {
	return &ParseError{s.field.name, clip.Text(s.item, maxQuoted), fmt.Sprintf(format, args...)}
}

// equalFold compares ASCII texts without regard to case; word must be in upper case.
// Unlike strings.EqualFold, it does not treat a long s as an S.
func equalFold(word, text string) bool {
	for i := range len(word) {
		if upper(text[i]) != word[i] {
			return false
		}
	}
	return true
}

// upper returns an ASCII letter in upper case, and other characters as they are.
func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
