package job

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// MaxSkips bounds how many upcoming fires of a job can be skipped at a time.
const MaxSkips = 100

// Pause is a switch, for everything or for an executor group: while it is on, every fire is
// recorded as skipped. It holds for fires after EffectiveFrom.
type Pause struct {
	Paused bool `json:"paused"`
	// EffectiveFrom is when the switch was last changed; zero if it never was.
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

// Skip is one fire of a job that somebody has called off while it was ahead.
type Skip struct {
	FireTime time.Time `json:"fire_time"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
	Reason   string    `json:"reason,omitempty"`
	// RunID is the run that replaces a fire, if somebody ran it early. Writing the first
	// version with it is enough: the owner of the job's shard then makes the run.
	RunID RunID `json:"run_id,omitempty"`
}

// String says why the fire does not run, as the ledger keeps it.
func (s Skip) String() string {
	who := cmp.Or(s.By, "somebody")
	switch {
	case s.RunID != "" && s.Reason != "":
		return reason.AskedEarlyNote.With(who, s.RunID, s.Reason)
	case s.RunID != "":
		return reason.AskedEarly.With(who, s.RunID)
	case s.Reason != "":
		return reason.FireSkippedNote.With(who, s.Reason)
	}
	return reason.FireSkipped.With(who)
}

// SkipOf returns the skip of the fire at an instant, or nil.
func (v *Version) SkipOf(fireTime time.Time) *Skip {
	if i, found := v.findSkip(fireTime); found {
		return &v.Skips[i]
	}
	return nil
}

func (v *Version) findSkip(fireTime time.Time) (int, bool) {
	return slices.BinarySearchFunc(v.Skips, fireTime, func(s Skip, at time.Time) int { return s.FireTime.Compare(at) })
}

// Skip calls a fire off, in the place of what was said of it before. It shares no memory
// with the versions from which v was copied. Neither does TakeBack.
func (v *Version) Skip(s Skip) {
	i, found := v.findSkip(s.FireTime)
	v.Skips = slices.Clone(v.Skips)
	if found {
		v.Skips[i] = s
		return
	}
	v.Skips = slices.Insert(v.Skips, i, s)
}

// TakeBack has the fire at an instant run after all.
func (v *Version) TakeBack(fireTime time.Time) {
	if i, found := v.findSkip(fireTime); found {
		v.Skips = slices.Delete(slices.Clone(v.Skips), i, i+1)
	}
}

// ForgetSkips drops skips up to the instant from which v is effective: their fires
// belong to versions before it.
func (v *Version) ForgetSkips() {
	i, _ := v.findSkip(v.EffectiveFrom.Add(time.Nanosecond))
	v.Skips = slices.Clone(v.Skips[i:])
	if len(v.Skips) == 0 {
		v.Skips = nil
	}
}

// PausedAt reports whether the job is paused at an instant. One that is paused until an
// instant is not any more at that instant.
func (j *Job) PausedAt(at time.Time) bool {
	return j.Paused || j.PausedUntil != nil && at.Before(*j.PausedUntil)
}

// suspension is what a plan has called off for a while. It is immutable.
type suspension struct {
	until int64  // the pause ends at; 0: there is none that ends
	skips []Skip // in order
}

func suspensionOf(v *Version) *suspension {
	if v.PausedUntil == nil && len(v.Skips) == 0 {
		return nil
	}
	s := &suspension{skips: v.Skips}
	if v.PausedUntil != nil {
		s.until = v.PausedUntil.UnixMilli()
	}
	return s
}

// WhyPaused returns why the job is paused at an instant in Unix milliseconds, or "".
func (p *Plan) WhyPaused(at int64) string {
	switch s := p.suspended; {
	case p.Paused:
		return reason.JobPaused.String()
	case s != nil && at < s.until:
		return reason.JobPausedUntil.With(time.UnixMilli(s.until))
	default:
		return ""
	}
}

// WhyOff returns why the fire at an instant in Unix milliseconds is not to run, because
// somebody has paused the job or called the fire off; or "".
func (p *Plan) WhyOff(at int64) string {
	if why := p.WhyPaused(at); why != "" || p.suspended == nil {
		return why
	}
	skips := p.suspended.skips
	i, found := slices.BinarySearchFunc(skips, at, func(s Skip, at int64) int { return cmp.Compare(s.FireTime.UnixMilli(), at) })
	if !found {
		return ""
	}
	return skips[i].String()
}

// Off reports whether WhyOff gives a reason.
func (p *Plan) Off(at int64) bool {
	return p.Paused || p.suspended != nil && p.WhyOff(at) != ""
}

// WantedEarly returns the skips of the fires that somebody wanted to run early, in order.
func (p *Plan) WantedEarly() (early []Skip) {
	if p.suspended == nil {
		return nil
	}
	for _, s := range p.suspended.skips {
		if s.RunID != "" {
			early = append(early, s)
		}
	}
	return early
}

// Stretches calls yield for the parts of (after, upto], in order, in each of which
// WhyOff says the same of all of the plan's fires that are due in it.
func (p *Plan) Stretches(after, upto int64, yield func(after, upto int64)) {
	if s := p.suspended; s != nil {
		ends := []int64{s.until - 1 + p.Offset}
		for _, skip := range s.skips {
			due := skip.FireTime.UnixMilli() + p.Offset
			ends = append(ends, due-1, due)
		}
		slices.Sort(ends)
		for _, end := range ends {
			if end > after && end < upto {
				yield(after, end)
				after = end
			}
		}
	}
	yield(after, upto)
}

// validatePause checks that a pause either ends or does not.
func (j Job) validatePause() error {
	switch at := j.PausedUntil; {
	case at == nil:
		return nil
	case j.Paused:
		return Invalid("paused_until", "is given together with paused, which has no end")
	case at.Year() < 1970 || at.Year() > 2225:
		return Invalid("paused_until", "%s must be between the years 1970 and 2225", at.Format(time.RFC3339))
	default:
		return nil
	}
}

// CheckSkip returns an *InvalidError unless the fire at an instant in Unix milliseconds is one
// of the job's, whatever its calendars say.
func (j Job) CheckSkip(fireTime time.Time) error {
	var planner Planner
	fires, err := planner.Preview(j, fireTime.Add(-time.Millisecond), 1)
	if err != nil {
		return fmt.Errorf("plan job %s: %w", j.Job, err)
	}
	if len(fires) == 0 || fires[0].At != fireTime.UnixMilli() {
		return NoFireAt(j.Job, fireTime)
	}
	return nil
}

// NoFireAt returns the *InvalidError that says so of a job.
func NoFireAt(name Name, fireTime time.Time) error {
	return Invalid("fire_time", "the schedule of %s has no fire at %s", name, fireTime.UTC().Format(time.RFC3339Nano))
}
