package logstore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of searches.
const (
	DefaultHits   = 100
	MaxHits       = 1000
	maxSearchText = 256 // bytes
)

// SearchFilter selects log lines of all runs. Each field that is set must hold; the
// zero filter is all lines. Tests of drafts are searched only by their RunID.
type SearchFilter struct {
	// Text is what a line must have: all of the words, in any order, and what stands
	// in double quotes as it stands there. ASCII letters match in either case. A word
	// is a sequence of letters, digits and whatever is not ASCII; other characters
	// only part them, so user-42 is two words. Of what is quoted, too, the words must be
	// words of the line.
	//
	// With a * where it begins or ends, a word may go on there: time* finds timeouts, and
	// *out* does, too. Words of scripts that put no spaces between words, such as Chinese,
	// are found anywhere, without it.
	Text     string
	Levels   []string
	Jobs     []job.Name
	Group    string   // executor group
	Groups   []string // as of a [RunFilter]
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
	case !utf8.ValidString(f.Text): // ClickHouse 26.7 does not find a byte that is a part of a character
		return job.Invalid("text", "must be UTF-8")
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
	wrong := job.Invalid("cursor", "%s", refusal.CursorOfPage)
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

// CompareHits is the order of a search's lines.
func CompareHits(a, b *runlog.Line) int {
	return cmp.Or(cmp.Compare(b.RunID, a.RunID), cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(b.Piece, a.Piece), cmp.Compare(b.Seq, a.Seq))
}
