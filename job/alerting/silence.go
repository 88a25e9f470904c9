package alerting

import (
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Silence holds back messages for a while: those of incidents that it fits. What is still
// open when it ends is sent then.
type Silence struct {
	ID     string    `json:"silence"`
	Rule   string    `json:"alert,omitempty"` // each that is set must fit; none: all
	Group  string    `json:"executor_group,omitempty"`
	Job    job.Name  `json:"job,omitempty"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by"`
	MadeAt time.Time `json:"made_at"`
}

// MaxSilence is how long a silence may last.
const MaxSilence = 90 * 24 * time.Hour

// NewSilence returns a silence from now on. The error holds an *InvalidError for each
// problem.
func NewSilence(s Silence, lasts time.Duration, by string, now time.Time) (*Silence, error) {
	var errs []error
	if s.Rule != "" {
		errs = append(errs, job.CheckSlug("alert", s.Rule))
	}
	if s.Group != "" {
		errs = append(errs, job.CheckSlug("executor_group", s.Group))
	}
	if s.Job != "" {
		_, err := job.ParseName(string(s.Job))
		errs = append(errs, err)
	}
	if lasts < time.Second || lasts > MaxSilence {
		errs = append(errs, job.Invalid("for", "%s must be between 1s and %s", job.Duration(lasts), job.Duration(MaxSilence)))
	}
	if len(s.Reason) > MaxText {
		errs = append(errs, job.Invalid("reason", "is longer than %d bytes", MaxText))
	}
	s.By, s.MadeAt, s.Until = by, now.UTC(), now.Add(lasts).UTC()
	s.ID = NewID(now, s.Rule, s.Group, string(s.Job), by)
	return &s, errors.Join(errs...)
}

// Fits reports whether all that an incident is about is silenced.
func (s *Silence) Fits(inc *Incident) bool {
	if s.Rule != "" && s.Rule != inc.Rule || s.Group != "" && s.Group != inc.Group {
		return false
	}
	if s.Job == "" {
		return true
	}
	for _, a := range inc.Jobs {
		if a.Job != s.Job {
			return false
		}
	}
	return len(inc.Jobs) > 0 && inc.More == 0
}
