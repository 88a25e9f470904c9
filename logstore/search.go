package logstore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of searches.
const (
	DefaultHits   = 100
	MaxHits       = 1000
	maxSearchText = 256 // bytes
)

// SearchFilter selects log lines of all runs. Each field that is set must hold; the
// zero filter is all lines.
type SearchFilter struct {
	// Text is what a line must have: all of the words, in any order, and what stands
	// in double quotes as it stands there. ASCII letters match in either case. A word
	// is a sequence of letters, digits and whatever is not ASCII; other characters
	// only part them, so user-42 is two words. Of what is quoted, too, the words must be
	// words of the line.
	Text     string
	Levels   []string
	Jobs     []job.Name
	Group    string   // executor group
	Groups   []string // one of these executor groups; nil is any
	RunID    job.RunID
	From, To time.Time // fire time of the lines' runs in [From, To)

	Limit  int    // from 1 to MaxHits; defaults to DefaultHits
	Cursor string // where the page before ended
}

// Runs returns the filter of the runs whose lines f selects, but for its RunID.
func (f *SearchFilter) Runs() RunFilter {
	return RunFilter{Jobs: f.Jobs, Group: f.Group, Groups: f.Groups, From: f.From, To: f.To}
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *SearchFilter) Validate() error {
	runs := f.Runs()
	if err := runs.Validate(); err != nil {
		return err
	}
	if f.RunID != "" {
		if _, err := job.ParseRunID(string(f.RunID)); err != nil {
			return err
		}
	}
	switch {
	case len(f.Text) > maxSearchText:
		return job.Invalid("text", "must not be longer than %d bytes", maxSearchText)
	case strings.Count(f.Text, `"`)%2 != 0:
		return job.Invalid("text", "has a quotation mark without another")
	case f.Limit < 0 || f.Limit > MaxHits:
		return job.Invalid("limit", "must be from 1 to %d", MaxHits)
	}
	for _, level := range f.Levels {
		if level == "" || len(level) > runlog.MaxWord {
			return job.Invalid("level", "must be a word of at most %d bytes", runlog.MaxWord)
		}
	}
	if f.Cursor != "" {
		if _, err := ParseHitCursor(f.Cursor); err != nil {
			return err
		}
	}
	return nil
}

// SearchPage is a part of the lines that a search finds, newest run first, and of a run
// the last line first.
type SearchPage struct {
	Lines []runlog.Line `json:"lines"`
	Next  string        `json:"next,omitempty"` // the cursor of the next page; empty on the last
}

// HitCursor is the last line of a page.
type HitCursor struct {
	Cursor
	Piece runlog.Piece
	Seq   int64
}

// HitAt returns the cursor of a page that ends with l.
func HitAt(l *runlog.Line) HitCursor { return HitCursor{Cursor{l.RunID, l.Attempt}, l.Piece, l.Seq} }

// String returns the text that ParseHitCursor reads.
func (c HitCursor) String() string { return fmt.Sprintf("%s.%d.%d", c.Cursor, c.Piece, c.Seq) }

// ParseHitCursor reads [SearchPage.Next]. Its error is an *InvalidError.
func ParseHitCursor(s string) (HitCursor, error) {
	wrong := job.Invalid("cursor", "%s", reason.CursorOfPage)
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return HitCursor{}, wrong
	}
	c, err := ParseCursor(parts[0] + "." + parts[1])
	piece, pieceErr := strconv.Atoi(parts[2])
	seq, seqErr := strconv.ParseInt(parts[3], 10, 64)
	if err != nil || pieceErr != nil || runlog.Piece(piece).Check() != nil || seqErr != nil || seq < 1 {
		return HitCursor{}, wrong
	}
	return HitCursor{c, runlog.Piece(piece), seq}, nil
}

// Terms are what a search's text asks for, in lower case.
type Terms struct {
	Words   []string // each once
	Phrases []string
}

// ParseTerms reads [SearchFilter.Text], which was validated.
func ParseTerms(text string) Terms {
	var t Terms
	for i, part := range strings.Split(lower(text), `"`) {
		t.Words = append(t.Words, words(part)...)
		if quoted := i%2 == 1; quoted && part != "" {
			t.Phrases = append(t.Phrases, part)
		}
	}
	slices.Sort(t.Words)
	t.Words = slices.Compact(t.Words)
	return t
}

// Match reports whether a line with this text has all that t asks for.
func (t *Terms) Match(text string) bool {
	if len(t.Words) == 0 && len(t.Phrases) == 0 {
		return true
	}
	text = lower(text)
	for _, p := range t.Phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	for _, w := range t.Words {
		if !hasWord(text, w) {
			return false
		}
	}
	return true
}

// hasWord reports whether word stands in text between what parts words.
func hasWord(text, word string) bool { return indexWord(text, word, false) >= 0 }

// indexWord returns where word stands first in text, or -1. inWord says that what is
// before the text is a part of a word.
func indexWord(text, word string, inWord bool) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		begin, end := from+i, from+i+len(word)
		before := inWord
		if begin > 0 {
			before = isWord(text[begin-1])
		}
		if !before && (end == len(text) || !isWord(text[end])) {
			return begin
		}
		from = begin + 1
	}
}

// lower changes ASCII letters only, as stores do, and no byte of anything else.
func lower(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lowerByte(b[i])
	}
	return string(b)
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b > math.MaxInt8
}

func words(s string) []string {
	var all []string
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && isWord(s[to]) {
			to++
		}
		if to > from {
			all = append(all, s[from:to])
		}
		from = max(to, from+1)
	}
	return all
}

// AddWords adds the words of a text to a set, in lower case, for a store that indexes
// them. Those that are longer than any search may be are left out.
func AddWords(set map[string]struct{}, text string) {
	var word [maxSearchText]byte
	for i := 0; i < len(text); i++ {
		n := 0
		for ; i < len(text) && isWord(text[i]); i++ {
			if n < len(word) {
				word[n] = lowerByte(text[i])
			}
			n++
		}
		if n == 0 || n > len(word) {
			continue
		}
		if _, ok := set[string(word[:n])]; !ok {
			set[string(word[:n])] = struct{}{}
		}
	}
}

// Find returns where a text has what t asks for: ranges in their order, none of which
// touches another.
func (t *Terms) Find(text string) []runlog.Range {
	text = lower(text)
	var found []runlog.Range // in bytes
	for _, p := range t.Phrases {
		for i := 0; ; {
			at := strings.Index(text[i:], p)
			if at < 0 {
				break
			}
			i += at + len(p)
			found = append(found, runlog.Range{From: i - len(p), To: i})
		}
	}
	for _, w := range t.Words {
		for i := 0; ; {
			at := indexWord(text[i:], w, i > 0 && isWord(text[i-1]))
			if at < 0 {
				break
			}
			i += at + len(w)
			found = append(found, runlog.Range{From: i - len(w), To: i})
		}
	}
	slices.SortFunc(found, func(a, b runlog.Range) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	var merged []runlog.Range
	for _, r := range found {
		if last := len(merged) - 1; last >= 0 && r.From <= merged[last].To {
			merged[last].To = max(merged[last].To, r.To)
		} else {
			merged = append(merged, r)
		}
	}
	bytes, chars := 0, 0
	for i := range merged {
		for _, at := range []*int{&merged[i].From, &merged[i].To} {
			chars += utf8.RuneCountInString(text[bytes:*at])
			bytes, *at = *at, chars
		}
	}
	return merged
}

// CompareHits is the order of a search's lines.
func CompareHits(a, b *runlog.Line) int {
	return cmp.Or(cmp.Compare(b.RunID, a.RunID), cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(b.Piece, a.Piece), cmp.Compare(b.Seq, a.Seq))
}
