package draw

import "github.com/carillon-scheduler/carillon/job"

// Pause says since when something has been paused, until when, by whom and why. What is "all
// jobs have been" or the like.
func (t *Table) Pause(what string, h job.Pause) {
	text := what + " paused since " + t.Instant(h.EffectiveFrom)
	if !h.Until.IsZero() {
		text += " until " + t.Instant(h.Until)
	}
	text += By(h.Author)
	if h.Note != "" {
		text += ": " + t.Cell(h.Note, NoteWidth)
	}
	t.Line(text)
}
