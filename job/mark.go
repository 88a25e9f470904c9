package job

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Mark is what somebody says of a run that has ended without success. It stands beside
// the run's status, which never changes.
type Mark string

// The marks of a run.
const (
	MarkHandled   Mark = "handled"   // somebody has seen to it
	MarkSucceeded Mark = "succeeded" // its work was done by hand
	MarkNone      Mark = "none"      // takes the mark before it back
)

// Marks lists every mark.
var Marks = []Mark{MarkHandled, MarkSucceeded, MarkNone}

// MaxMarkNote bounds the note of a mark, in bytes.
const MaxMarkNote = 2000

// Marks reports whether a run with this status can be marked: it has ended, and neither
// with success nor because there was a reason against it.
func (s Status) Marks() bool { return s.Final() && s != StatusSucceeded && s != StatusSkipped }

// CheckMark returns an *InvalidError for field "as" or "note" that is wrong. Every mark
// has a note.
func CheckMark(m Mark, note string) error {
	switch {
	case !slices.Contains(Marks, m):
		return Invalid("as", "%q must be one of %v", clip.Text(string(m), maxQuoted), Marks)
	case strings.TrimSpace(note) == "":
		return Invalid("note", "is missing: say what was done, or why")
	case len(note) > MaxMarkNote:
		return Invalid("note", "has %d bytes; at most %d are kept", len(note), MaxMarkNote)
	}
	return nil
}
