package job

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"
)

// Plan is a version made ready to compute fires. It is small, as a scheduler node
// keeps one or more for every job.
type Plan struct {
	From    int64 // fires after this instant are the version's; Unix milliseconds
	Offset  int64 // from a fire time to its due instant, in milliseconds
	Version int32
	Paused  bool
	Deleted bool
	// suspended is nil for most.
	suspended *suspension
	*Rules
}

// Rules is what versions with the same schedule and policies share. It is immutable.
type Rules struct {
	Kind    ScheduleKind
	Delay   int64 // fixed_delay, in milliseconds
	Misfire Misfire
	Only    []string
	Except  []string
	Shift   Shift
	// Watch is nil unless runs are done elsewhere.
	Watch *WatchRule
	Reactions
	table *Timetable
}

// Reactions is what a job's owner has to do besides firing: when a run is wanted
// while others are alive, when one ends, and when one does not begin.
type Reactions struct {
	Overlap      Overlap
	Retry        Retry
	Children     []Child
	TotalTimeout Duration
	StartWithin  Duration
	PauseAfter   int
	// InSteps says that runs do the steps of a workflow. InPieces says that runs are done in pieces,
	// and SucceedsIf how many pieces have to succeed.
	InSteps    bool
	InPieces   bool
	SucceedsIf Share
	// Elsewhere says that runs are done elsewhere, and pings tell of them.
	Elsewhere bool
}

// ReactionsOf returns what j asks for.
func ReactionsOf(j *Job) Reactions {
	return Reactions{
		Overlap: j.Overlap.withDefaults(), Retry: j.Retry.withDefaults(j.Delivery), Children: j.withDefaultChildren(),
		TotalTimeout: j.TotalTimeout, StartWithin: j.StartWithin, PauseAfter: j.PauseAfter,
		InSteps: len(j.Steps) > 0, InPieces: j.InPieces(), SucceedsIf: j.SucceedsIf,
		Elsewhere: j.Elsewhere(),
	}
}

// Watched reports whether the owner of the job's shard has to know which of its runs
// are alive. Runs of other jobs cost it nothing once they are triggered.
func (r *Reactions) Watched() bool {
	return !r.Overlap.Unlimited() || r.Retry.Limit > 0 || len(r.Children) > 0 || r.StartWithin > 0 || r.PauseAfter > 0 || r.InPieces || r.InSteps || r.Elsewhere
}

// PassesResult reports whether a child gets what its parent returned.
func (r *Reactions) PassesResult() bool {
	return slices.ContainsFunc(r.Children, func(c Child) bool { return c.PassResult })
}

// Fire is one instant at which a schedule says go. Both fields are Unix milliseconds.
type Fire struct {
	At  int64 // fire time: nominal, never moved by lateness
	Due int64 // when to dispatch it: At plus the spread offset
}

// Planner makes plans, and lets equal ones share their rules, for as long as there are such
// plans. It is safe for concurrent use; the zero value is ready.
type Planner struct {
	mu    sync.Mutex
	rules map[string]weak.Pointer[Rules]
	kept  int // how many there were when those that nobody uses were dropped last
}

// Plan returns v as a plan. The error is an *InvalidError, when v was not valid.
func (p *Planner) Plan(v *Version) (Plan, error) {
	rules, err := p.rulesOf(v)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		From:    v.EffectiveFrom.UnixMilli(),
		Offset:  v.Schedule.offset(v.Job.Job),
		Version: int32(v.Version), //nolint:gosec // an edit a second for 60 years
		Paused:  v.Paused,
		Deleted: v.Deleted,
		Rules:   rules,

		suspended: suspensionOf(v),
	}, nil
}

func (p *Planner) rulesOf(v *Version) (*Rules, error) {
	key := rulesKey(v)
	p.mu.Lock()
	rules := p.rules[key].Value()
	p.mu.Unlock()
	if rules != nil {
		return rules, nil
	}
	table, err := v.Schedule.Compile(v.Job.Job)
	if err != nil {
		return nil, err
	}
	rules = &Rules{
		Kind:    v.Schedule.Kind(),
		Delay:   v.Schedule.FixedDelay.Milliseconds(),
		Misfire: v.Misfire.withDefaults(),
		Only:    v.Schedule.Only,
		Except:  v.Schedule.Except,
		Shift:   v.Schedule.Shift,
		Watch:   v.watchRule(table),

		Reactions: ReactionsOf(&v.Job),
		table:     table,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.rules[key].Value(); known != nil {
		return known, nil // somebody else was faster
	}
	if p.rules == nil {
		p.rules = map[string]weak.Pointer[Rules]{}
	}
	p.rules[key] = weak.Make(rules)
	if len(p.rules) > 2*p.kept+1024 {
		maps.DeleteFunc(p.rules, func(_ string, r weak.Pointer[Rules]) bool { return r.Value() == nil })
		p.kept = len(p.rules)
	}
	return rules, nil
}

// rulesKey is equal for two versions only if their rules are. An H, which stands
// for a value chosen by the job, makes it depend on the job; the H of THU does so
// too, which costs sharing and no more. "@hourly" and the like have none.
func rulesKey(v *Version) string {
	s := v.Schedule
	var b strings.Builder
	for _, text := range []string{s.Cron, s.Zone, s.DST, strings.Join(s.Only, ","), strings.Join(s.Except, ","), string(s.Shift), string(v.Misfire.Policy)} {
		b.WriteString(text)
		b.WriteByte('|')
	}
	for _, n := range []int64{int64(s.FixedRate), int64(s.FixedDelay), int64(v.Misfire.Grace), int64(v.Misfire.MaxCount), int64(v.Misfire.MaxAge)} {
		b.WriteString(strconv.FormatInt(n, 36))
		b.WriteByte('|')
	}
	for _, t := range []*time.Time{s.Once, s.Anchor, s.From, s.Until} {
		if t != nil {
			b.WriteString(strconv.FormatInt(t.UnixMilli(), 36))
		}
		b.WriteByte('|')
	}
	if s.Every != nil {
		text, _ := json.Marshal(s.Every) // never fails: it was read from JSON
		b.Write(text)
		b.WriteByte('|')
	}
	if !strings.HasPrefix(s.Cron, "@") && strings.ContainsAny(s.Cron, "Hh") {
		b.WriteString(string(v.Job.Job))
	}
	if v.Elsewhere() {
		text, _ := json.Marshal(v.Task.Watch) // never fails: it was read from JSON
		b.Write(text)
		b.WriteString(v.Timeout.String())
	}
	if r := ReactionsOf(&v.Job); r.Watched() || r.TotalTimeout > 0 {
		text, _ := json.Marshal(r) // never fails: it was read from JSON
		b.Write(text)
	}
	return b.String()
}

// DelayFire returns the fire of a fixed-delay job that waits since the given instant,
// and false when its schedule has ended.
func (p *Plan) DelayFire(since int64) (Fire, bool) {
	at := max(since+p.Delay, p.table.from)
	return Fire{At: at, Due: at + p.Offset}, at <= p.table.until
}

// UTCOffset returns by how many minutes the clocks of the schedule's zone are ahead of UTC at an instant in Unix
// milliseconds. ok is false if the schedule names no times of day.
func (p *Plan) UTCOffset(at int64) (minutes int, ok bool) {
	if !p.Kind.OnWall() {
		return 0, false
	}
	second := floorDiv(at, 1000)
	return int((p.table.zone.Wall(second) - second) / 60), true
}

// History is all that decides when one job fires: its versions as plans, oldest
// first. A fire belongs to the version that was effective at its fire time.
type History []Plan

// end returns the last instant whose fires belong to plan i.
func (h History) end(i int) int64 {
	if i+1 < len(h) {
		return h[i+1].From
	}
	return endOfTime
}

const endOfTime = int64(1) << 62

// NextDue returns the earliest instant after the given one at which a fire is due.
// Several fires may be due at it, when an edit changed the spread.
func (h History) NextDue(after int64) (due int64, ok bool) {
	due = endOfTime
	for i := range h {
		if fire, found := h.next(i, after); found {
			due = min(due, fire.Due)
		}
	}
	return due, due != endOfTime
}

// next returns plan i's first fire that is due after the given instant.
func (h History) next(i int, after int64) (Fire, bool) {
	p := &h[i]
	if p.Deleted {
		return Fire{}, false
	}
	at, ok := p.table.Next(max(p.From, after-p.Offset))
	if !ok || at > h.end(i) {
		return Fire{}, false
	}
	return Fire{At: at, Due: at + p.Offset}, true
}

// Fires calls yield for plan i's fires that are due in (after, upto], oldest first,
// until yield returns false.
func (h History) Fires(i int, after, upto int64, yield func(Fire) bool) {
	for {
		fire, ok := h.next(i, after)
		if !ok || fire.Due > upto || !yield(fire) {
			return
		}
		after = fire.Due
	}
}

// LastDue returns plan i's latest fire that is due in (after, upto]. It takes time
// logarithmic in the length of the interval, not in the number of fires.
func (h History) LastDue(i int, after, upto int64) (Fire, bool) {
	last, ok := h.next(i, after)
	if !ok || last.Due > upto {
		return Fire{}, false
	}
	lo, hi := last.Due, upto // some fire is due in (…, lo]; find the greatest lo that is itself due
	for lo < hi {
		mid := lo + (hi-lo)/2
		if fire, ok := h.next(i, mid); ok && fire.Due <= upto {
			last, lo = fire, fire.Due
		} else {
			hi = mid
		}
	}
	return last, true
}

// Newest returns, in the memory of fires, the last n fires of plan i that are due in (after, upto],
// oldest first, and whether there are more before them. Its cost does not depend on how many those are.
func (h History) Newest(fires []Fire, i int, after, upto int64, n int) (_ []Fire, more bool) {
	collect := func(after int64) (tooMany bool) {
		fires = fires[:0]
		h.Fires(i, after, upto, func(f Fire) bool {
			tooMany = len(fires) == n
			if !tooMany {
				fires = append(fires, f)
			}
			return !tooMany
		})
		return tooMany
	}
	if !collect(after) {
		return fires, false
	}
	lo, hi := after, upto // too many are due after lo, not so after hi
	for lo+1 < hi {
		if mid := lo + (hi-lo)/2; collect(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	collect(hi)
	return fires, true
}

// At returns the plan that is effective at an instant.
func (h History) At(now int64) *Plan {
	for i := len(h) - 1; i > 0; i-- {
		if h[i].From <= now {
			return &h[i]
		}
	}
	return &h[0]
}

// Trim drops the versions none of whose fires is due after the given instant, but
// never the newest one.
func (h History) Trim(after int64) History {
	for len(h) > 1 && h[1].From+h[0].Offset <= after {
		h = h[1:]
	}
	return h
}

// Preview returns the next n fires after the given instant of a job that has just
// one version from then on.
func (p *Planner) Preview(j Job, after time.Time, n int) ([]Fire, error) {
	plan, err := p.Plan(&Version{Job: j, EffectiveFrom: after})
	if err != nil {
		return nil, err
	}
	return plan.Next(after.UnixMilli(), n), nil
}

// Next returns the plan's next n fires that are due after an instant, as if no other
// version followed.
func (p *Plan) Next(after int64, n int) []Fire {
	var fires []Fire
	History{*p}.Fires(0, after, endOfTime-1, func(f Fire) bool {
		if len(fires) < n {
			fires = append(fires, f)
		}
		return len(fires) < n
	})
	return fires
}
