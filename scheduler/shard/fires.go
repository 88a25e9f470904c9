package shard

import (
	"cmp"
	"math"
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

// candidate is a fire, with what its calendars and pauses say of it.
type candidate struct {
	job.Fire
	plan     int    // index in the job's plans
	moved    string // why it fires on a day that is not its schedule's; "": it is
	excluded string // why it is to be skipped; "": it is not
}

// lateRule is what becomes of late fires of a job.
type lateRule struct {
	runs   int         // how many of the newest may run
	oldest int64       // they are due at or after this instant
	merged bool        // the one that runs stands for all
	why    reason.None // why the others do not run
}

// fires decides what becomes of the fires of jobs, and does it.
type fires struct {
	jobs        *jobs
	cluster     *Cluster
	runs        *runs
	moved       movedFires
	standstills standstills

	verdicts []verdict // what enactAll is to do
	apart    bool      // each fire that is judged gets a verdict of its own: pings may tell of it
	// Scratch.
	found        []job.Fire
	onTime, late []candidate
}

// decide notes what becomes of each fire of the plans first to before end of a job of the group
// that is due in (after, upto], as seen at now. It returns how many runs that makes: each has a
// verdict of its own, others may stand for several fires.
func (fs *fires) decide(group string, plans job.History, first, end int, after, upto, now int64) (runs int) {
	rule := fs.lateRule(group, plans.At(now), now)
	fs.verdicts, fs.late = fs.verdicts[:0], fs.late[:0]
	fs.apart = plans[len(plans)-1].Watch != nil
	lumped := 0 // missed fires that are not among the late ones
	inTime, judged := maxOnTime, maxJudged
	for i := end - 1; i >= first; i-- { // the newest version has the newest fires
		grace := min(upto, now-plans[i].Misfire.Grace.Milliseconds()-1)
		var n int
		var since int64
		fs.onTime, n, since = fs.find(fs.onTime[:0], group, plans, i, max(after, grace), upto, inTime)
		inTime -= n
		if since > after {
			fs.late, n, since = fs.find(fs.late, group, plans, i, after, since, judged)
			judged -= n
			lumped += fs.lump(plans, i, after, since, rule)
		}
		fs.judgeOnTime(now)
	}
	fs.judgeLate(rule, lumped, now)
	for _, v := range fs.verdicts {
		if v.status == job.StatusPending {
			runs++
		}
	}
	return runs
}

// lateRule returns what becomes of late fires by the version p, which rules at now.
func (fs *fires) lateRule(group string, p *job.Plan, now int64) lateRule {
	switch scope := fs.cluster.pausedBy(group, now); {
	case scope == allPaused:
		return lateRule{why: reason.PausedByThen}
	case scope == groupPaused:
		return lateRule{why: reason.GroupPausedByThen}
	case p.Deleted:
		return lateRule{why: reason.DeletedByThen}
	case p.WhyPaused(now) != "":
		return lateRule{why: reason.JobPausedByThen}
	case p.Watch != nil: // it may have been done elsewhere all the same
		return lateRule{runs: job.MaxMaxCount, oldest: math.MinInt64, why: reason.BeyondFireAll}
	case p.Misfire.Policy == job.FireAll:
		return lateRule{runs: p.Misfire.MaxCount, oldest: now - p.Misfire.MaxAge.Milliseconds(), why: reason.BeyondFireAll}
	case p.Misfire.Policy == job.FireOnce:
		return lateRule{runs: 1, oldest: math.MinInt64, merged: true, why: reason.LatestStoodForAll}
	}
	return lateRule{why: reason.MisfireSkip}
}

// find appends to list the last n of plan i's fires that are due in (after, upto], oldest first, but
// for those that a calendar keeps from firing. It returns how many there were before that, and since
// when they are all: after, unless there are more than n.
func (fs *fires) find(list []candidate, group string, plans job.History, i int, after, upto int64, n int) (_ []candidate, found int, since int64) {
	fires, more := plans.Newest(fs.found[:0], i, after, upto, n)
	fs.found = fires
	p := &plans[i]
	for _, f := range fires {
		if landing, moved := fs.cluster.lands(p, f.At); landing != job.LandsNone {
			list = append(list, candidate{Fire: f, plan: i, moved: moved, excluded: fs.cluster.excluded(group, p, f.At)})
		}
	}
	switch {
	case !more:
		since = after
	case len(fires) == 0:
		since = upto
	default:
		since = fires[0].Due - 1
	}
	return list, len(fires), since
}

// judgeOnTime notes a run for each fire that is on time, unless it is excluded.
func (fs *fires) judgeOnTime(now int64) {
	first := len(fs.verdicts)
	for _, f := range fs.onTime {
		v := f.verdict(job.CauseSchedule)
		if v.status == job.StatusPending {
			v.reason = reason.Join(f.moved, fs.standstills.withinGrace(f.Due, now))
		}
		fs.note(v, first)
	}
}

// verdict returns a run for the fire, unless it is excluded.
func (f *candidate) verdict(cause job.Cause) verdict {
	v := verdict{plan: f.plan, status: job.StatusPending, cause: cause, first: f.Fire, last: f.Fire, count: 1}
	if f.excluded != "" {
		v.status, v.reason = job.StatusSkipped, f.excluded
	}
	return v
}

// note adds a verdict. One without a run joins the one before it, of those from first on, if the two
// agree.
func (fs *fires) note(v verdict, first int) {
	if n := len(fs.verdicts); n > first && v.status != job.StatusPending && !fs.apart {
		if last := &fs.verdicts[n-1]; last.status == v.status && last.reason == v.reason && last.plan == v.plan {
			last.last = v.last
			last.count += v.count
			return
		}
	}
	fs.verdicts = append(fs.verdicts, v)
}

// lump notes a verdict for all of plan i's fires that are due in (after, upto], and too old to be
// judged one by one; or a few, if some of them were called off. It returns how many are missed.
func (fs *fires) lump(plans job.History, i int, after, upto int64, rule lateRule) (missed int) {
	if upto == after {
		return 0
	}
	p := &plans[i]
	p.Stretches(after, upto, func(after, upto int64) { // of either all were called off or none
		v := verdict{plan: i, status: job.StatusMissed, cause: job.CauseSchedule}
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
			return
		}
		if p.Shift == "" || v.count == maxCount { // else it is one of those that were checked
			v.last, _ = plans.LastDue(i, after, upto)
		}
		if why := p.WhyOff(v.first.At); why != "" {
			v.status, v.reason = job.StatusSkipped, why
		} else {
			v.reason = fs.missedReason(rule, v.first.Due, v.last.Due)
			missed += v.count
		}
		fs.verdicts = append(fs.verdicts, v)
	})
	return missed
}

// judgeLate notes a verdict for each fire that was noticed late. Only the newest of them
// may run. missed is how many more there are that may not.
func (fs *fires) judgeLate(rule lateRule, missed int, now int64) {
	slices.SortFunc(fs.late, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.plan, b.plan)) })
	runs := len(fs.late) // index of the first that runs
	left := rule.runs
	for i, f := range slices.Backward(fs.late) {
		if f.excluded != "" {
			continue
		}
		missed++
		if left > 0 && f.Due >= rule.oldest {
			left--
			runs = i
		}
	}
	first := len(fs.verdicts)
	for i, f := range fs.late {
		v := f.verdict(job.CauseSchedule)
		switch {
		case f.excluded != "":
		case i < runs:
			v.status, v.reason = job.StatusMissed, fs.missedReason(rule, f.Due, f.Due)
		default:
			v.cause, v.reason = job.CauseMisfire, reason.Join(f.moved, fs.standstills.misfireReason(f.Due, now))
			if rule.merged && missed > 1 {
				v.reason = reason.Join(v.reason, reason.ForMisfires.With(missed))
			}
		}
		fs.note(v, first)
	}
}

// judgeAlone returns what becomes of a fire for which no other can stand, and whether it is late.
func (fs *fires) judgeAlone(group string, plans job.History, i int, fire job.Fire, now int64) (v verdict, late bool) {
	p := &plans[i]
	f := candidate{Fire: fire, plan: i, excluded: fs.cluster.excluded(group, p, fire.At)}
	v, late = f.verdict(job.CauseSchedule), now-fire.Due > p.Misfire.Grace.Milliseconds()
	switch {
	case f.excluded != "":
	case !late:
		v.reason = fs.standstills.withinGrace(fire.Due, now)
	default:
		if rule := fs.lateRule(group, p, now); rule.runs == 0 {
			v.status, v.reason = job.StatusMissed, fs.missedReason(rule, fire.Due, fire.Due)
		} else {
			v.cause, v.reason = job.CauseMisfire, fs.standstills.misfireReason(fire.Due, now)
		}
	}
	return v, late
}

// missedReason says why late fires, due in [first, last], are not run.
func (fs *fires) missedReason(rule lateRule, first, last int64) string {
	return reason.Join(reason.NoticedTooLate.String(), fs.standstills.because(first, last), rule.why.String())
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

// noteMisfire counts fires that were noticed too late.
func (b *builder) noteMisfire(p job.MisfirePolicy, v verdict) {
	if v.cause != job.CauseMisfire && v.status != job.StatusMissed {
		return
	}
	if b.Misfires == nil {
		b.Misfires = map[job.MisfirePolicy]int{}
	}
	b.Misfires[p] += v.count
}
