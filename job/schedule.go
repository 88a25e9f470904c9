package job

import (
	"math"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// Bounds of a schedule.
const (
	MinFixedRate  = 100 * time.Millisecond
	MinFixedDelay = 100 * time.Millisecond
	MaxInterval   = 366 * 24 * time.Hour
	MaxSpread     = 24 * time.Hour
	MaxCalendars  = 16
)

// Schedule says when a job fires. At most one of Cron, Every, FixedRate, FixedDelay and
// Once is set; a job with none of them runs only when somebody asks.
type Schedule struct {
	// Cron is kept as typed. Five fields are Unix cron, six or seven are Quartz;
	// "@daily" and the like, "@every 90s" (a fixed rate) and "@at 2026-03-01T09:00:00Z"
	// (once) are understood, and H stands for a value chosen by a hash of the job.
	Cron string `json:"cron,omitempty"`
	// Every is an interval of the calendar, such as every second Tuesday at nine.
	Every *Every `json:"every,omitempty"`
	// FixedRate fires at Anchor + n*FixedRate, whatever restarts in between.
	FixedRate Duration `json:"fixed_rate,omitempty"`
	// FixedDelay fires this long after the end of the run before. The first fire
	// comes this long after the version took effect.
	FixedDelay Duration `json:"fixed_delay,omitempty"`
	// Once is the only fire.
	Once *time.Time `json:"once,omitempty"`

	// Zone is an IANA time zone. Defaults to UTC.
	Zone string `json:"zone,omitempty"`
	// DST chooses what happens to Cron and Every when clocks change: "auto", "quartz",
	// "vixie", or "gap=…,overlap=…" as package cron describes. Defaults to auto.
	DST string `json:"dst,omitempty"`
	// Anchor fixes the phase of FixedRate. Defaults to From, else to the Unix epoch.
	Anchor *time.Time `json:"anchor,omitempty"`
	// From and Until bound the fires, both inclusive.
	From  *time.Time `json:"from,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Spread delays the dispatch of each fire by an offset below Spread that
	// depends on the job's name alone. The fire time stays.
	Spread Duration `json:"spread,omitempty"`
	// Only and Except name calendars. A fire that no calendar of Only contains, or
	// that one of Except contains, is skipped.
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
	// Shift has such a fire moved to another day, at the same time of day, instead.
	Shift Shift `json:"shift,omitempty"`
}

// ScheduleKind names the kinds of schedule.
type ScheduleKind string

// The kinds of schedule.
const (
	KindCron       ScheduleKind = "cron"
	KindEvery      ScheduleKind = "every"
	KindFixedRate  ScheduleKind = "fixed_rate"
	KindFixedDelay ScheduleKind = "fixed_delay"
	KindOnce       ScheduleKind = "once"
	KindManual     ScheduleKind = "manual"
)

// OnWall reports whether schedules of the kind name times on the wall, in a zone.
func (k ScheduleKind) OnWall() bool { return k == KindCron || k == KindEvery }

// Kind returns what kind of schedule s is. "@every" is a fixed rate, "@at" is once.
func (s Schedule) Kind() ScheduleKind {
	switch {
	case strings.HasPrefix(s.Cron, "@every"):
		return KindFixedRate
	case strings.HasPrefix(s.Cron, "@at"):
		return KindOnce
	case s.Cron != "":
		return KindCron
	case s.Every != nil:
		return KindEvery
	case s.FixedRate != 0:
		return KindFixedRate
	case s.FixedDelay != 0:
		return KindFixedDelay
	case s.Once != nil:
		return KindOnce
	default:
		return KindManual
	}
}

// String tells the schedule in a few words: "0 3 * * * Europe/Berlin", "every 5m".
func (s Schedule) String() string {
	zone := ""
	if s.Zone != "" && s.Zone != "UTC" {
		zone = " " + s.Zone
	}
	switch {
	case s.Cron != "":
		return s.Cron + zone
	case s.Every != nil:
		return s.Every.String() + zone
	case s.FixedRate != 0:
		return "every " + s.FixedRate.String()
	case s.FixedDelay != 0:
		return s.FixedDelay.String() + " after the last run"
	case s.Once != nil:
		return "once at " + s.Once.UTC().Format(time.RFC3339)
	default:
		return "manual"
	}
}

func (s Schedule) withDefaults() Schedule {
	s.Cron = strings.TrimSpace(s.Cron)
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	return s
}

func (s Schedule) validate(name Name) []error {
	var errs []error
	set := 0
	for _, isSet := range []bool{s.Cron != "", s.Every != nil, s.FixedRate != 0, s.FixedDelay != 0, s.Once != nil} {
		if isSet {
			set++
		}
	}
	if set > 1 {
		errs = append(errs, Invalid("schedule", "has more than one of cron, every, fixed_rate, fixed_delay and once"))
	}
	interval := func(field string, d Duration, least time.Duration) {
		if d != 0 && (d.Std() < least || d.Std() > MaxInterval || d.Std()%time.Millisecond != 0) {
			errs = append(errs, Invalid(field, "%s must be whole milliseconds between %s and %s", d, Duration(least), Duration(MaxInterval)))
		}
	}
	interval("schedule.fixed_rate", s.FixedRate, MinFixedRate)
	interval("schedule.fixed_delay", s.FixedDelay, MinFixedDelay)
	if s.Spread < 0 || s.Spread.Std() > MaxSpread {
		errs = append(errs, Invalid("schedule.spread", "%s must be between 0 and %s", s.Spread, Duration(MaxSpread)))
	}
	instant := func(field string, t *time.Time) {
		if t != nil && (t.Year() < 1970 || t.Year() > 2225) {
			errs = append(errs, Invalid(field, "%s must be between the years 1970 and 2225", t.Format(time.RFC3339)))
		}
	}
	instant("schedule.once", s.Once)
	instant("schedule.anchor", s.Anchor)
	instant("schedule.from", s.From)
	instant("schedule.until", s.Until)
	if s.From != nil && s.Until != nil && s.Until.Before(*s.From) {
		errs = append(errs, Invalid("schedule.until", "is before schedule.from"))
	}
	if s.Anchor != nil && s.Kind() != KindFixedRate {
		errs = append(errs, Invalid("schedule.anchor", "belongs to fixed_rate only"))
	}
	if s.DST != "" && !s.Kind().OnWall() {
		errs = append(errs, Invalid("schedule.dst", "belongs to cron and every only"))
	}
	if len(s.Only)+len(s.Except) > MaxCalendars {
		errs = append(errs, Invalid("schedule.only", "and schedule.except name more than %d calendars", MaxCalendars))
	}
	for _, c := range s.Only {
		if err := CheckSlug("schedule.only", c); err != nil {
			errs = append(errs, err)
		}
	}
	for _, c := range s.Except {
		if err := CheckSlug("schedule.except", c); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.validateShift()...)
	if len(errs) > 0 {
		return errs
	}
	table, err := s.Compile(name)
	if err != nil {
		return []error{err}
	}
	if n := table.timesOfDay(); s.Shift != "" && n > MaxShiftTimes {
		return []error{Invalid("schedule.shift", "moves fires of schedules with at most %d times of day, and schedule.cron has %d", MaxShiftTimes, n)}
	}
	if err := s.checkFires(table); err != nil {
		return []error{err}
	}
	return nil
}

// Timetable is a schedule made ready to compute fires. It is immutable and may be
// shared.
type Timetable struct {
	kind    ScheduleKind
	pattern cron.Pattern // cron and every
	zone    *cron.Zone
	policy  cron.Policy
	every   int64 // fixed rate
	anchor  int64 // fixed rate; once: the only fire
	from    int64 // first instant at which it may fire
	until   int64 // last instant at which it may fire
}

// Next returns the first fire after the given instant, both in Unix milliseconds,
// and false when there is none. Manual and fixed-delay schedules have no fires of
// their own. It does not allocate.
func (t *Timetable) Next(after int64) (int64, bool) {
	after = max(after, t.from-1)
	var at int64
	switch t.kind {
	case KindCron, KindEvery:
		s, ok := t.pattern.NextUnix(floorDiv(after, 1000), t.zone, t.policy)
		if !ok {
			return 0, false
		}
		at = s * 1000
	case KindFixedRate:
		at = t.anchor + (floorDiv(after-t.anchor, t.every)+1)*t.every
	case KindOnce:
		if after >= t.anchor {
			return 0, false
		}
		at = t.anchor
	case KindFixedDelay, KindManual:
		return 0, false
	}
	return at, at <= t.until
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Compile returns s as a Timetable, which knows no calendar and no pause. name resolves H in cron
// expressions. The error is an *InvalidError.
func (s Schedule) Compile(name Name) (*Timetable, error) {
	t := &Timetable{kind: s.Kind(), from: 0, until: math.MaxInt64}
	zone, err := cron.LoadZone(s.Zone)
	if err != nil {
		return nil, Invalid("schedule.zone", "%q is not a time zone; use an IANA name such as Europe/Berlin", clip.Text(s.Zone, maxQuoted))
	}
	if s.From != nil {
		t.from = s.From.UnixMilli()
	}
	if s.Until != nil {
		t.until = s.Until.UnixMilli()
	}
	switch t.kind {
	case KindCron, KindEvery:
		t.zone = zone
		if t.policy, err = cron.ParsePolicy(s.DST); err != nil {
			return nil, Invalid("schedule.dst", "%s", err)
		}
		if t.pattern, err = s.pattern(name); err != nil {
			return nil, err
		}
	case KindFixedRate:
		every := s.FixedRate.Std()
		if text, ok := strings.CutPrefix(s.Cron, "@every"); ok {
			every, err = ParseDuration(strings.TrimSpace(text))
			if err != nil || every < MinFixedRate || every > MaxInterval || every%time.Millisecond != 0 {
				return nil, Invalid("schedule.cron", "%q must give an interval of whole milliseconds between %s and %s, as in \"@every 90s\"", clip.Text(s.Cron, maxQuoted), Duration(MinFixedRate), Duration(MaxInterval))
			}
		}
		t.every = every.Milliseconds()
		switch {
		case s.Anchor != nil:
			t.anchor = s.Anchor.UnixMilli()
		case s.From != nil:
			t.anchor = t.from
		}
	case KindOnce:
		at := s.Once
		if text, ok := strings.CutPrefix(s.Cron, "@at"); ok {
			v, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
			if err != nil || v.Year() < 1970 || v.Year() > 2225 {
				return nil, Invalid("schedule.cron", "%q must give an instant in RFC 3339, as in \"@at 2026-03-01T09:00:00+01:00\"", clip.Text(s.Cron, maxQuoted))
			}
			at = &v
		}
		t.anchor = at.UnixMilli()
	case KindFixedDelay, KindManual:
	}
	return t, nil
}

// pattern returns what s fires by on the wall, with the days to which fires could be moved. The
// error is an *InvalidError.
func (s Schedule) pattern(name Name) (cron.Pattern, error) {
	var before, after uint8
	switch s.Shift {
	case ShiftNext:
		after = MaxShift
	case ShiftPrevious:
		before = MaxShift
	}
	if s.Kind() == KindEvery {
		interval, err := s.Every.compile()
		if err != nil {
			return nil, err
		}
		return interval.Around(before, after), nil
	}
	expr, err := cron.Parse(s.Cron, name.Hash())
	if err != nil {
		return nil, Invalid("schedule.cron", "%q: %s", clip.Text(s.Cron, maxQuoted), err)
	}
	return expr.Around(before, after), nil
}

// Offset returns how long after its fire time a run of the named job is due, because of the
// spread.
func (s Schedule) Offset(name Name) time.Duration {
	return time.Duration(s.offset(name)) * time.Millisecond
}

// offset returns by how many milliseconds dispatches of the named job are delayed.
func (s Schedule) offset(name Name) int64 {
	spread := s.Spread.Milliseconds()
	if spread <= 0 {
		return 0
	}
	return int64(name.Hash() % uint64(spread)) //nolint:gosec // below spread
}
