package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// KindWatch is the kind of a [Watch]. No executor announces it, so it is not among [TaskKinds].
const KindWatch = "watch"

// Defaults and bounds of a watch.
const (
	DefaultWatchGrace   = Duration(10 * time.Minute)
	MinWatchGrace       = 10 * time.Second
	MaxWatchGrace       = 24 * time.Hour
	DefaultWatchEarly   = Duration(time.Minute)
	MaxWatchEarly       = time.Hour
	DefaultWatchTimeout = Duration(24 * time.Hour)
)

// WatchFrom says since when pings are owed.
type WatchFrom string

// Since when pings are owed. The empty value is the first.
const (
	WatchFromFirstPing WatchFrom = "first_ping" // fires before the first ping are skipped
	WatchFromNow       WatchFrom = "now"        // since the job was saved
)

// WatchMethods are the HTTP methods by which pings may come.
var WatchMethods = []string{"GET", "HEAD", "POST"}

// Watch is the task of a job whose runs are done elsewhere: by a cron daemon, a timer or another scheduler.
// A ping says that a run has begun or ended. In JSON it may also be written as its grace alone: "30m".
type Watch struct {
	// Grace is how long after its fire time a run may begin, or end if only its end is told; then it is
	// missed. Defaults to [DefaultWatchGrace].
	Grace Duration `json:"grace,omitempty"`
	// Early is how long before a fire time a ping counts for it already. Nil is [DefaultWatchEarly], or half of
	// the shortest gap between fires if that is less.
	Early *Duration `json:"early,omitempty"`
	// From says since when pings are owed.
	From WatchFrom `json:"from,omitempty"`
	// Methods are those of [WatchMethods] by which pings may come. Empty is all.
	Methods []string `json:"methods,omitempty"`
}

// UnmarshalJSON reads an object, or the grace alone as text.
func (w *Watch) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &w.Grace)
	}
	type plain Watch
	return decodeWithin("task.watch", data, (*plain)(w))
}

// Allows reports whether pings may come by an HTTP method.
func (w *Watch) Allows(method string) bool {
	return len(w.Methods) == 0 || slices.Contains(w.Methods, method)
}

// Elsewhere reports whether the job's runs are done elsewhere, and only pings tell of them.
func (j *Job) Elsewhere() bool { return j.Task.Watch != nil }

// WatchRule is when pings are due, in milliseconds.
type WatchRule struct {
	Grace   int64 // after a fire time
	Early   int64 // before a fire time
	Timeout int64 // between the beginning of a run and its end
	Now     bool  // pings are owed before the first one
}

// watchRule returns the rule of a job, nil unless its runs are done elsewhere. table is the job's schedule.
func (j *Job) watchRule(table *Timetable) *WatchRule {
	w := j.Task.Watch
	if w == nil {
		return nil
	}
	early := DefaultWatchEarly
	if w.Early != nil {
		early = *w.Early
	}
	return &WatchRule{
		Grace: w.grace().Milliseconds(), Early: min(early.Milliseconds(), table.shortestGap()/2),
		Timeout: cmp.Or(j.Timeout, DefaultWatchTimeout).Milliseconds(), Now: w.From == WatchFromNow,
	}
}

func (w *Watch) grace() Duration { return cmp.Or(w.Grace, DefaultWatchGrace) }

// How many fires shortestGap looks at, and since when: all versions with the same schedule share what
// follows from it.
const gapFires = 200

var gapsSince = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// shortestGap returns the least time between two fires in a row, in milliseconds; a year if there are no two.
func (t *Timetable) shortestGap() int64 {
	gap := (365 * 24 * time.Hour).Milliseconds()
	at, ok := t.Next(max(gapsSince, t.from))
	for range gapFires {
		next, more := t.Next(at)
		if !ok || !more {
			break
		}
		gap = min(gap, next-at)
		at = next
	}
	return gap
}

// validateWatch checks a watch, and refuses what makes no sense for runs that are done elsewhere.
func (j *Job) validateWatch() []error {
	w := j.Task.Watch
	if w == nil {
		return nil
	}
	var errs []error
	refuse := func(is bool, field, format string, args ...any) {
		if is {
			errs = append(errs, Invalid(field, format, args...))
		}
	}
	refuse(w.grace().Std() < MinWatchGrace || w.grace().Std() > MaxWatchGrace, "task.watch.grace", "%s must be between %s and %s", w.Grace, Duration(MinWatchGrace), Duration(MaxWatchGrace))
	refuse(w.From != "" && w.From != WatchFromFirstPing && w.From != WatchFromNow, "task.watch.from", "%q must be first_ping or now", clip.Text(string(w.From), maxQuoted))
	for i, m := range w.Methods {
		refuse(!slices.Contains(WatchMethods, m) || slices.Contains(w.Methods[:i], m), "task.watch.methods", "%q must be one of %s, each once", clip.Text(m, maxQuoted), strings.Join(WatchMethods, ", "))
	}
	errs = append(errs, j.validateEarly()...)

	const elsewhere = "does not go with task.watch, as the run is done elsewhere"
	refuse(j.StartWithin != 0, "start_within", "does not go with task.watch: write task.watch.grace")
	refuse(j.Schedule.Spread != 0, "schedule.spread", "does not go with task.watch: add it to task.watch.grace")
	refuse(j.Misfire != Misfire{}.withDefaults() && j.Misfire != Misfire{}, "misfire", "does not go with task.watch: a fire that is noticed late is owed a ping all the same")
	refuse(j.Overlap.Policy != "" && j.Overlap.Policy != OverlapAllow || j.Overlap.Limit != 0, "overlap", elsewhere)
	refuse(j.Retry.Limit != 0, "retry", elsewhere+": repeat the command there")
	refuse(j.Route != "" && j.Route != RouteAny, "route", elsewhere)
	refuse(len(j.Labels) > 0, "labels", elsewhere)
	refuse(j.Priority.withDefaults() != Priority("").withDefaults(), "priority", elsewhere)
	refuse(j.Delivery == AtMostOnce, "delivery", elsewhere)
	refuse(j.MaxDeliveries != 0, "max_deliveries", elsewhere)
	refuse(j.Map != nil, "map", elsewhere)
	refuse(j.TotalTimeout != 0, "total_timeout", "does not go with task.watch: write timeout")
	refuse(j.KillGrace != 0, "kill_grace", elsewhere)
	refuse(len(j.Params) > 0, "params", elsewhere)
	refuse(len(j.ParamsSchema) > 0, "params_schema", elsewhere)
	refuse(len(j.Task.Env)+len(j.Task.Secrets) > 0 || j.Task.Dir != "" || j.Task.Stdin != "", "task", "has dir, env, secrets or stdin, which a watch does not use")
	return errs
}

// GraceIsLong reports whether a run may still be expected when the next fire comes, and how long after it that is at least.
func (j *Job) GraceIsLong() (gap Duration, long bool) {
	if !j.Elsewhere() {
		return 0, false
	}
	table, err := j.Schedule.Compile(j.Job)
	if err != nil {
		return 0, false
	}
	gap = Duration(time.Duration(table.shortestGap()) * time.Millisecond)
	return gap, j.Task.Watch.grace() >= gap
}

// validateEarly checks how early pings may come: a ping must belong to one fire.
func (j *Job) validateEarly() []error {
	w := j.Task.Watch
	if w.Early == nil {
		return nil
	}
	early := w.Early.Std()
	if early < 0 || early > MaxWatchEarly {
		return []error{Invalid("task.watch.early", "%s must be between 0s and %s", *w.Early, Duration(MaxWatchEarly))}
	}
	table, err := j.Schedule.Compile(j.Job)
	if err != nil {
		return nil // the schedule's own error says so
	}
	if gap := time.Duration(table.shortestGap()) * time.Millisecond; early > gap/2 {
		return []error{Invalid("task.watch.early", "%s must be at most half of the shortest gap between fires, which is %s", *w.Early, Duration(gap))}
	}
	return nil
}
