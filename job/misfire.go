package job

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// MisfirePolicy says what becomes of fires that were noticed too late.
type MisfirePolicy string

// The misfire policies.
const (
	MisfireSkip MisfirePolicy = "skip"      // record them as missed
	FireOnce    MisfirePolicy = "fire_once" // one run for all of them, for the latest; the others are recorded as missed
	FireAll     MisfirePolicy = "fire_all"  // a run for each, newest MaxCount of those younger than MaxAge
)

// Defaults and bounds of misfire handling.
const (
	// DefaultGrace is longer than an election in a NATS cluster, so that one is no misfire.
	DefaultGrace    = 15 * time.Second
	DefaultMaxCount = 100
	DefaultMaxAge   = 24 * time.Hour
	MaxGrace        = 24 * time.Hour
	MaxMaxCount     = 500
	MaxMaxAge       = 31 * 24 * time.Hour
)

// Misfire is a job's rule for fires noticed more than Grace late. In JSON it may
// also be written as the policy alone: "skip".
type Misfire struct {
	Policy   MisfirePolicy `json:"policy,omitempty"`
	Grace    Duration      `json:"grace,omitempty"`
	MaxCount int           `json:"max_count,omitempty"` // fire_all only
	MaxAge   Duration      `json:"max_age,omitempty"`   // fire_all only
}

// UnmarshalJSON reads an object, or the policy alone as text.
func (m *Misfire) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &m.Policy)
	}
	type plain Misfire
	return decodeWithin("misfire", data, (*plain)(m))
}

func (m Misfire) withDefaults() Misfire {
	if m.Policy == "" {
		m.Policy = FireOnce
	}
	if m.Grace == 0 {
		m.Grace = Duration(DefaultGrace)
	}
	if m.Policy == FireAll {
		if m.MaxCount == 0 {
			m.MaxCount = DefaultMaxCount
		}
		if m.MaxAge == 0 {
			m.MaxAge = Duration(DefaultMaxAge)
		}
	}
	return m
}

func (m Misfire) validate() []error {
	var errs []error
	switch m.Policy {
	case MisfireSkip, FireOnce, FireAll, "":
	default:
		errs = append(errs, Invalid("misfire.policy", "%q must be skip, fire_once or fire_all", clip.Text(string(m.Policy), maxQuoted)))
	}
	if g := m.Grace.Std(); g < 0 || g > MaxGrace {
		errs = append(errs, Invalid("misfire.grace", "%s must be between 0 and %s", m.Grace, Duration(MaxGrace)))
	}
	if m.MaxCount < 0 || m.MaxCount > MaxMaxCount {
		errs = append(errs, Invalid("misfire.max_count", "%d must be between 1 and %d", m.MaxCount, MaxMaxCount))
	}
	if a := m.MaxAge.Std(); a < 0 || a > MaxMaxAge {
		errs = append(errs, Invalid("misfire.max_age", "%s must be between 0 and %s", m.MaxAge, Duration(MaxMaxAge)))
	}
	if m.Policy != FireAll && (m.MaxCount != 0 || m.MaxAge != 0) {
		errs = append(errs, Invalid("misfire", "has max_count or max_age, which belong to fire_all only"))
	}
	return errs
}
