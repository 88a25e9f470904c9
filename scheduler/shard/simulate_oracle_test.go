package shard

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// knowledge is what a machine has heard, kept as plain lists. The slices only grow,
// so a copy of the maps is a snapshot.
type knowledge struct {
	jobs      map[job.Name][]heardVersion
	calendars map[string][]*job.CalendarVersion
	holds     []hold
	room      *Room
}

// hold is how the switch for a group is set, or with "" that for everything.
type hold struct {
	group string
	job.Pause
}

// heardVersion is a version with its revision, and with the instant after which fires
// are the version's: as it says, or later.
type heardVersion struct {
	*job.Version
	rev   uint64
	after int64
}

func (v heardVersion) offset() int64 {
	if ms := v.Schedule.Spread.Milliseconds(); ms > 0 {
		return int64(v.Job.Job.Hash() % uint64(ms))
	}
	return 0
}

// fate is what is to become of one fire.
type fate struct {
	version int
	at, due int64
	status  job.Status
	cause   job.Cause
	reason  string // of skipped fires
	seen    bool
	none    bool // no fire is moved to this instant
	moved   bool // one is, from a day of the schedule
	moves   bool // a fire that calendars exclude is moved to another day
}

// oracle tells the instants of schedules. It looks ahead in large steps and keeps
// what it has seen.
type oracle struct {
	planner job.Planner
	seen    map[string]*instants
}

type instants struct {
	from, upto int64
	at         []int64
}

// fires returns the instants in (lo, hi] at which v's schedule says go.
func (o *oracle) fires(v *job.Version, lo, hi int64) []int64 {
	if hi <= lo || v.Deleted {
		return nil
	}
	s := v.Schedule
	var all []int64
	switch s.Kind() {
	case job.KindManual, job.KindFixedDelay:
		return nil
	case job.KindOnce:
		all = []int64{s.Once.UnixMilli()}
	case job.KindFixedRate:
		anchor := int64(0)
		if s.Anchor != nil {
			anchor = s.Anchor.UnixMilli()
		} else if s.From != nil {
			anchor = s.From.UnixMilli()
		}
		every := s.FixedRate.Milliseconds()
		if text, ok := strings.CutPrefix(s.Cron, "@every "); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				fail("%q: %v", s.Cron, err)
			}
			every = d.Milliseconds()
		}
		first := anchor + (lo-anchor)/every*every - every
		for at := first; at <= hi; at += every {
			all = append(all, at)
		}
	case job.KindCron:
		all = o.cron(v, lo, hi)
	case job.KindEvery:
		all = everyFires(s, lo, hi)
	}
	var in []int64
	for _, at := range all {
		if at > lo && at <= hi && (s.From == nil || at >= s.From.UnixMilli()) && (s.Until == nil || at <= s.Until.UnixMilli()) {
			in = append(in, at)
		}
	}
	return in
}

// everyFires returns the instants in (lo, hi] of an interval of days or weeks, by asking each date.
func everyFires(s job.Schedule, lo, hi int64) (at []int64) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		fail("%s: %v", s, err)
	}
	from, err := time.ParseInLocation(time.DateOnly, s.Every.From, zone)
	if err != nil {
		fail("%s: %v", s, err)
	}
	begin := instant(lo).In(zone).AddDate(0, 0, -1)
	for day := max(0, int(begin.Sub(from)/(24*time.Hour))); ; day++ {
		date := from.AddDate(0, 0, day)
		if date.UnixMilli() > hi {
			return at
		}
		matches := s.Every.Days > 0 && day%s.Every.Days == 0
		if s.Every.Weeks > 0 {
			week := (day + int(from.Weekday()+6)%7) / 7
			matches = week%s.Every.Weeks == 0 && slices.Contains(s.Every.On, strings.ToLower(date.Format("Mon")))
		}
		for _, text := range s.Every.At {
			clock, err := time.Parse("15:04", text)
			if err != nil {
				fail("%s: %v", s, err)
			}
			if fire := date.Add(clock.Sub(clock.Truncate(24 * time.Hour))).UnixMilli(); matches && fire > lo && fire <= hi {
				at = append(at, fire)
			}
		}
	}
}

func (o *oracle) cron(v *job.Version, lo, hi int64) []int64 {
	return o.instants(job.Job{Job: v.Job.Job, Schedule: job.Schedule{
		Cron: v.Schedule.Cron, Zone: v.Schedule.Zone, DST: v.Schedule.DST, Shift: v.Schedule.Shift,
	}}, lo, hi)
}

// instants returns the instants in (lo, hi] of a cron expression, in order.
func (o *oracle) instants(plain job.Job, lo, hi int64) []int64 {
	key := strings.Join([]string{string(plain.Job), plain.Schedule.Cron, plain.Schedule.Zone, plain.Schedule.DST, string(plain.Schedule.Shift)}, "|")
	known := o.seen[key]
	if known == nil || lo < known.from {
		known = &instants{from: lo, upto: lo}
		o.seen[key] = known
	}
	for known.upto < hi {
		fires, err := o.planner.Preview(plain, time.UnixMilli(known.upto), 500)
		if err != nil {
			fail("preview %s: %v", key, err)
		}
		for _, f := range fires {
			known.at = append(known.at, f.At)
			known.upto = f.At
		}
		if len(fires) < 500 {
			known.upto = 1 << 60
		}
	}
	i := sort.Search(len(known.at), func(i int) bool { return known.at[i] > lo })
	j := sort.Search(len(known.at), func(i int) bool { return known.at[i] > hi })
	return known.at[i:j]
}

// expect returns the fate of each of a job's fires that are due, in (after, upto] for
// each version as window says, decided at now by one who knows k: in the words of the
// guarantees, one fire at a time.
func (o *oracle) expect(k *knowledge, versions []heardVersion, now int64, window func(heardVersion) (after, upto int64)) []*fate {
	byVersion := make([][]*fate, len(versions))
	for i, v := range versions {
		end := int64(1 << 60)
		if i+1 < len(versions) {
			end = versions[i+1].after
		}
		lo, upto := window(v)
		for _, at := range o.fires(v.Version, max(v.after, lo-v.offset()), min(end, upto-v.offset())) {
			byVersion[i] = append(byVersion[i], &fate{version: v.Version.Version, at: at, due: at + v.offset()})
		}
	}
	// In time are those within the grace, as long as they are not too many.
	var all, late []*fate
	inTime, judged := 400, 1000
	for i, v := range slices.Backward(versions) {

		fires := byVersion[i]
		all = append(all, fires...)
		for _, f := range slices.Backward(fires) {
			if v.Schedule.Shift != "" && !o.regular(v, f.at) {
				f.moved = o.lands(k, v, f.at)
				f.none = !f.moved
			}
			f.moves = k.moves(v, f.at)
			switch {
			case inTime > 0 && now-f.due <= v.Misfire.Grace.Milliseconds():
				inTime--
				f.status, f.cause = job.StatusPending, job.CauseSchedule
				if f.reason = k.exclude(v, f.at); f.reason != "" {
					f.status = job.StatusSkipped
				}
			case judged > 0:
				judged--
				f.reason = k.exclude(v, f.at)
				if !f.none {
					late = append(late, f)
				}
			default:
				f.status, f.cause, f.moves = job.StatusMissed, job.CauseSchedule, false
				if f.reason = off(v.Version, f.at); f.reason != "" {
					f.status = job.StatusSkipped
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(f *fate) bool { return f.none })
	if len(late) == 0 {
		return all
	}
	rule := versions[0]
	for _, v := range versions {
		if v.after <= now {
			rule = v
		}
	}
	runs, reach := 0, int64(-1<<60)
	switch {
	case rule.Deleted || rule.PausedAt(instant(now)) || k.held(rule.Job.Job, now) != "":
	case rule.Misfire.Policy == job.FireOnce:
		runs = 1
	case rule.Misfire.Policy == job.FireAll:
		runs, reach = rule.Misfire.MaxCount, now-rule.Misfire.MaxAge.Milliseconds()
	}
	slices.SortFunc(late, func(a, b *fate) int {
		if a.due != b.due {
			return int(min(1, max(-1, b.due-a.due)))
		}
		return b.version - a.version
	})
	for _, f := range late {
		switch {
		case f.reason != "":
			f.status, f.cause = job.StatusSkipped, job.CauseSchedule
		case runs > 0 && f.due >= reach:
			runs--
			f.status, f.cause = job.StatusPending, job.CauseMisfire
		default:
			f.status, f.cause = job.StatusMissed, job.CauseSchedule
		}
	}
	return all
}

// regular reports whether v, whose fires calendars move, has one at an instant, in UTC, by itself.
func (o *oracle) regular(v heardVersion, at int64) bool {
	plain := job.Job{Job: v.Job.Job, Schedule: job.Schedule{Cron: v.Schedule.Cron, Zone: v.Schedule.Zone}}
	return len(o.instants(plain, at-1, at)) > 0
}

// lands reports whether a fire of v is moved to an instant: one of the nearest day of its
// schedule, with no day between that the calendars allow.
func (o *oracle) lands(k *knowledge, v heardVersion, at int64) bool {
	days := 1
	if v.Schedule.Shift == job.ShiftNext {
		days = -1
	}
	if k.shut(v, at, at) != "" {
		return false
	}
	for other := instant(at).AddDate(0, 0, days); other.Sub(instant(at)).Abs() <= job.MaxShift*24*time.Hour; other = other.AddDate(0, 0, days) {
		if k.shut(v, at, other.UnixMilli()) == "" {
			return false
		}
		if o.regular(v, other.UnixMilli()) && within(v, other) {
			return true
		}
	}
	return false
}

// moves reports whether a fire of v that calendars exclude is moved: they, as they are then, allow
// one of the days of its direction.
func (k *knowledge) moves(v heardVersion, at int64) bool {
	days := map[job.Shift]int{job.ShiftNext: 1, job.ShiftPrevious: -1}[v.Schedule.Shift]
	if days == 0 || k.shut(v, at, at) == "" {
		return false
	}
	for n := 1; n <= job.MaxShift; n++ {
		switch to := instant(at).AddDate(0, 0, n*days); {
		case !within(v, to):
			return false
		case k.shut(v, at, to.UnixMilli()) == "":
			return true
		}
	}
	return false
}

// within reports whether v's schedule may fire at an instant.
func within(v heardVersion, at time.Time) bool {
	s := v.Schedule
	return (s.From == nil || !at.Before(*s.From)) && (s.Until == nil || !at.After(*s.Until))
}

// exclude returns why a fire of v is skipped.
func (k *knowledge) exclude(v heardVersion, at int64) string {
	if v.PausedAt(instant(at)) {
		return off(v.Version, at)
	}
	if why := k.held(v.Job.Job, at); why != "" {
		return why
	}
	if why := off(v.Version, at); why != "" {
		return why
	}
	return k.shut(v, at, at)
}

// shut returns why calendars, as they were at an instant, exclude a fire of v at another.
func (k *knowledge) shut(v heardVersion, asOf, at int64) string {
	for _, name := range v.Schedule.Except {
		if in, exists := k.contains(name, asOf, at); exists && in {
			return "calendar " + name + " excludes it"
		}
	}
	included := len(v.Schedule.Only) == 0
	for _, name := range v.Schedule.Only {
		in, exists := k.contains(name, asOf, at)
		included = included || exists && in
	}
	if !included {
		return "calendar " + strings.Join(v.Schedule.Only, ",") + " does not include it"
	}
	return ""
}

// off returns why a fire of v was called off by people.
func off(v *job.Version, at int64) string {
	if v.Paused {
		return "the job is paused"
	}
	if v.PausedUntil != nil && instant(at).Before(*v.PausedUntil) {
		return "the job is paused until " + v.PausedUntil.Format(time.RFC3339)
	}
	for _, s := range v.Skips {
		switch {
		case s.FireTime.UnixMilli() != at:
		case s.RunID != "":
			return "ada asked for it early, as run " + string(s.RunID)
		default:
			return "skipped by ada: " + s.Reason
		}
	}
	return ""
}

// held returns why a switch keeps a job from firing at an instant, or "".
func (k *knowledge) held(name job.Name, at int64) string {
	why := map[string]string{}
	for _, h := range k.holds {
		if h.EffectiveFrom.UnixMilli() >= at {
			continue
		}
		delete(why, h.group)
		if h.Paused && (h.Until.IsZero() || at < h.Until.UnixMilli()) {
			why[h.group] = "everything is paused"
			if h.group != "" {
				why[h.group] = "executor group " + h.group + " is paused"
			}
		}
	}
	return cmp.Or(why[""], why[name.Group()])
}

func (k *knowledge) contains(calendar string, asOf, at int64) (in, exists bool) {
	versions := k.calendars[calendar]
	if len(versions) == 0 {
		return false, false
	}
	ruling := versions[0]
	for _, v := range versions {
		if v.EffectiveFrom.UnixMilli() < asOf {
			ruling = v
		}
	}
	if ruling.Deleted {
		return false, false
	}
	set, err := ruling.Compile()
	if err != nil {
		fail("compile calendar %s: %v", calendar, err)
	}
	return set.Contains(at), true
}

func (k *knowledge) snapshot() *knowledge {
	c := &knowledge{jobs: map[job.Name][]heardVersion{}, calendars: map[string][]*job.CalendarVersion{}, holds: k.holds, room: k.room}
	maps.Copy(c.jobs, k.jobs)
	maps.Copy(c.calendars, k.calendars)
	return c
}
