package job

import "time"

// Pause is a switch, for everything or for an executor group: while it is on, every fire is
// recorded as skipped. It holds for fires after EffectiveFrom.
type Pause struct {
	Paused bool `json:"paused"`
	// EffectiveFrom is since when the switch is as it is; zero is that nobody has used it.
	EffectiveFrom time.Time `json:"effective_from,omitzero"`
	// Until is when a pause ends by itself, the fires at that instant running; zero is
	// never.
	Until  time.Time `json:"until,omitzero"`
	Author string    `json:"author,omitempty"`
	Note   string    `json:"note,omitempty"`
}

// At returns the switch as it is at an instant: off since Until, if that has come.
func (h Pause) At(now time.Time) Pause {
	if h.Paused && !h.Until.IsZero() && !now.Before(h.Until) {
		h.Paused, h.EffectiveFrom, h.Until = false, h.Until, time.Time{}
	}
	return h
}
