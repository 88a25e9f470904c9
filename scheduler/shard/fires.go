package shard

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Bounds of what one job may do in one sweep, all its versions taken together. They
// keep its messages within one batch, so that a batch never ends in the middle of a
// job: these and [job.MaxMaxCount] misfires, a fixed delay's trigger and item.
const (
	maxOnTime = 400    // runs for fires in time; older ones count as late
	maxJudged = 1000   // late fires that are judged one by one; older ones are judged together
	maxCount  = 100000 // fires that are counted; "at least" so many beyond
)

// verdict is what becomes of a fire, or of several in a row.
type verdict struct {
	plan   int // index in the job's plans
	status job.Status
	cause  job.Cause
	reason string
	first  job.Fire
	last   job.Fire
	count  int
	total  int // in how many pieces the run is done; 0: it is not
}

// misfire is a fire with the plan that it belongs to.
type misfire struct {
	job.Fire
	plan  int
	moved string // why it fires on a day that is not its schedule's
}

// fires decides what becomes of the fires of jobs, and does it.
type fires struct {
	jobs        *jobs
	cluster     *Cluster
	runs        *runs
	moved       movedFires
	standstills standstills

	verdicts []verdict // what enactAll is to do
	scratch  []job.Fire
}

// decide calls yield with what becomes of each fire of the plans first to before end of a
// job of the group that is due in (after, upto], as seen at now. Verdicts of runs come one by
// one, others may stand for several fires.
func (fs *fires) decide(group string, plans job.History, first, end int, after, upto, now int64, yield func(verdict)) {
	var found []misfire
	lumped := 0 // missed fires that are not among found
	inTime, judged := maxOnTime, maxJudged
	for i := end - 1; i >= first; i-- { // the newest version has the newest fires
		p := &plans[i]
		lateUpto := min(upto, now-p.Misfire.Grace.Milliseconds()-1)
		onTime, more := newest(fs.scratch[:0], plans, i, max(after, lateUpto), upto, inTime)
		fs.scratch = onTime
		if more {
			lateUpto = before(onTime, upto)
		}
		if lateUpto > after {
			fires, looked, lumps := fs.misfires(group, plans, i, after, lateUpto, judged, now)
			found = append(found, fires...)
			judged -= looked
			for _, lump := range lumps {
				yield(lump)
				if lump.status == job.StatusMissed {
					lumped += lump.count
				}
			}
		}
		fs.judgeOnTime(group, p, i, onTime, now, yield)
		inTime -= len(onTime)
	}
	if len(found) > 0 {
		fs.judgeMisfires(group, plans, found, lumped, now, yield)
	}
}

// before returns the last instant before all of the fires, which are due up to upto.
func before(fires []job.Fire, upto int64) int64 {
	if len(fires) > 0 {
		return fires[0].Due - 1
	}
	return upto
}

// judgeOnTime yields a run for each fire, unless it is excluded.
func (fs *fires) judgeOnTime(group string, p *job.Plan, plan int, fires []job.Fire, now int64, yield func(verdict)) {
	var run mergedVerdict
	for _, f := range fires {
		v := verdict{plan: plan, status: job.StatusPending, cause: job.CauseSchedule, first: f, last: f, count: 1}
		landing, moved := fs.cluster.lands(p, f.At)
		if landing == job.LandsNone {
			continue
		}
		if why := fs.cluster.excluded(group, p, f.At); why != "" {
			v.status, v.reason = job.StatusSkipped, why
		} else {
			v.reason = reason.Join(moved, fs.standstills.withinGrace(f.Due, now))
		}
		run.add(v, yield)
	}
	run.flush(yield)
}

// misfires returns the newest of plan i's fires due in (after, upto], of at most n instants that it
// looks at, and verdicts for those before them: one, unless some of them were called off.
func (fs *fires) misfires(group string, plans job.History, i int, after, upto int64, n int, now int64) (found []misfire, looked int, lumps []verdict) {
	fires, more := newest(nil, plans, i, after, upto, n)
	if more {
		plans[i].Stretches(after, before(fires, upto), func(after, upto int64) {
			if lump := fs.lump(group, plans, i, after, upto, now); lump.count > 0 {
				lumps = append(lumps, lump)
			}
		})
	}
	found = make([]misfire, 0, len(fires))
	for _, f := range fires {
		if landing, moved := fs.cluster.lands(&plans[i], f.At); landing != job.LandsNone {
			found = append(found, misfire{Fire: f, plan: i, moved: moved})
		}
	}
	return found, len(fires), lumps
}

// lump returns one verdict for plan i's fires due in (after, upto], of which either all
// were called off or none. It has no count when there are none.
func (fs *fires) lump(group string, plans job.History, i int, after, upto, now int64) verdict {
	v := verdict{plan: i, status: job.StatusMissed, cause: job.CauseSchedule}
	p := &plans[i]
	plans.Fires(i, after, upto, func(f job.Fire) bool {
		if landing, _ := fs.cluster.lands(p, f.At); landing == job.LandsNone {
			return true
		}
		if v.count == 0 {
			v.first = f
		}
		v.last = f
		v.count++
		return v.count < maxCount
	})
	if v.count == 0 {
		return v
	}
	if p.Shift == "" || v.count == maxCount { // else it is one of those that were checked
		v.last, _ = plans.LastDue(i, after, upto)
	}
	if why := plans[i].WhyOff(v.first.At); why != "" {
		v.status, v.reason = job.StatusSkipped, why
	} else {
		v.reason = fs.missedReason(group, newestAt(plans, now), v.first.Due, v.last.Due, now)
	}
	return v
}

// newestAt returns the version that is effective at now.
func newestAt(plans job.History, now int64) *job.Plan {
	for i := len(plans) - 1; i > 0; i-- {
		if plans[i].From <= now {
			return &plans[i]
		}
	}
	return &plans[0]
}

// missedReason says why late fires, due in [first, last], are not run, by the version p that
// rules at now.
func (fs *fires) missedReason(group string, p *job.Plan, first, last, now int64) string {
	why := reason.MisfireSkip
	switch scope := fs.cluster.pausedBy(group, now); {
	case scope == allPaused:
		why = reason.PausedByThen
	case scope == groupPaused:
		why = reason.GroupPausedByThen
	case p.Deleted:
		why = reason.DeletedByThen
	case p.WhyPaused(now) != "":
		why = reason.JobPausedByThen
	case p.Misfire.Policy == job.FireAll:
		why = reason.BeyondFireAll
	case p.Misfire.Policy == job.FireOnce:
		why = reason.LatestStoodForAll
	}
	return reason.Join(reason.NoticedTooLate.String(), fs.standstills.because(first, last), why.String())
}

// judgeMisfires yields a verdict for each fire that was noticed late. Only the newest of them
// may run. missed is how many more there are that may not.
func (fs *fires) judgeMisfires(group string, plans job.History, found []misfire, missed int, now int64, yield func(verdict)) {
	slices.SortFunc(found, func(a, b misfire) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.plan, b.plan)) })
	rule := newestAt(plans, now)
	runs := 0 // how many of the newest may run
	oldest := int64(-1 << 62)
	if !rule.Deleted && rule.WhyPaused(now) == "" && fs.cluster.pausedBy(group, now) == nonePaused {
		switch rule.Misfire.Policy {
		case job.FireOnce:
			runs = 1
		case job.FireAll:
			runs = rule.Misfire.MaxCount
			oldest = now - rule.Misfire.MaxAge.Milliseconds()
		case job.MisfireSkip:
		}
	}
	verdicts := make([]verdict, len(found))
	for k := len(found) - 1; k >= 0; k-- {
		f := found[k]
		v := verdict{plan: f.plan, cause: job.CauseSchedule, first: f.Fire, last: f.Fire, count: 1}
		switch why := fs.cluster.excluded(group, &plans[f.plan], f.At); {
		case why != "":
			v.status, v.reason = job.StatusSkipped, why
		case runs > 0 && f.Due >= oldest:
			runs--
			missed++
			v.status, v.cause, v.reason = job.StatusPending, job.CauseMisfire, f.moved
		default:
			missed++
			v.status, v.reason = job.StatusMissed, fs.missedReason(group, rule, f.Due, f.Due, now)
		}
		verdicts[k] = v
	}
	var run mergedVerdict
	for _, v := range verdicts {
		if v.status == job.StatusPending {
			v.reason = reason.Join(v.reason, fs.standstills.misfireReason(v.first.Due, now))
			if rule.Misfire.Policy == job.FireOnce && missed > 1 {
				v.reason = reason.Join(v.reason, reason.ForMisfires.With(missed))
			}
		}
		run.add(v, yield)
	}
	run.flush(yield)
}

// mergedVerdict joins verdicts without a run that follow each other and agree.
type mergedVerdict struct{ verdict }

func (r *mergedVerdict) add(v verdict, yield func(verdict)) {
	if r.count > 0 && v.status != job.StatusPending && r.status == v.status && r.reason == v.reason && r.plan == v.plan {
		r.last = v.last
		r.count += v.count
		return
	}
	r.flush(yield)
	r.verdict = v
}

func (r *mergedVerdict) flush(yield func(verdict)) {
	if r.count > 0 {
		yield(r.verdict)
	}
	r.count = 0
}

// newest returns, in the memory of fires, the last n of plan i's fires that are due in (after, upto],
// oldest first, and whether there are more before them. Its cost does not
// depend on how many those are.
func newest(fires []job.Fire, plans job.History, i int, after, upto int64, n int) (_ []job.Fire, more bool) {
	collect := func(after int64) (tooMany bool) {
		fires = fires[:0]
		plans.Fires(i, after, upto, func(f job.Fire) bool {
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

// enactAll adds to b what the verdicts ask for. The caller has found room for a message for
// each run among them, and runs that can do with one leave the others theirs.
func (fs *fires) enactAll(b *builder, id uint32, runs int) {
	b.reserved = runs
	for _, v := range fs.verdicts {
		if v.status == job.StatusPending {
			b.reserved--
		}
		fs.apply(b, id, v)
	}
	b.reserved = 0
}

// apply adds to b what a verdict asks for, and returns the status that comes of it.
func (fs *fires) apply(b *builder, id uint32, v verdict) job.Status {
	e := fs.jobs.at(id)
	version := e.plans[v.plan].Version
	b.noteMisfire(e.plans[v.plan].Misfire.Policy, v)
	if v.status == job.StatusPending {
		f := fs.runs.admit(b, id, attempt{
			runID: job.FireRunID(e.name, v.first.At, v.cause), version: version, number: 1, cause: v.cause, fireTime: v.first.At,
		}, e.bodies[v.plan].Value())
		if f.status == job.StatusPending {
			b.Due = append(b.Due, v.first.Due)
		}
		v.status, v.reason, v.total = f.status, reason.Join(v.reason, f.reason), f.total
	}
	fs.moved.note(e.name, &e.plans[v.plan], v.last.At)
	b.record.add(e.name, version, v)
	return v.status
}
