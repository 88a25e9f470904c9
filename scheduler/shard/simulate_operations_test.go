package shard

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// operation is one thing that happens in a world.
type operation struct {
	weight int
	do     func(w *world)
}

var operations = []operation{
	{30, func(w *world) { w.clock += w.rng.Int64N(20 * w.scale.unit.Milliseconds()) }},
	{2, func(w *world) { w.clock += w.rng.Int64N(w.scale.downtime.Milliseconds()) }},
	{1, func(w *world) { // an instant exactly
		w.clock = (w.clock/60000 + 1) * 60000
	}},
	{40, func(w *world) {
		if w.owner != nil {
			w.step(w.owner)
		}
	}},
	{4, (*world).saveJob},
	{1, (*world).editALot},
	{1, (*world).limitNATS},
	{1, (*world).saveTerms},
	{2, (*world).forget},
	{20, func(w *world) {
		if w.owner != nil {
			w.owner.hear(w)
		}
	}},
	{20, func(w *world) {
		if len(w.live) > 0 {
			w.finish(w.live[w.rng.IntN(len(w.live))])
		}
	}},
	{3, func(w *world) { // all at once
		for len(w.live) > 0 {
			w.finish(w.live[0])
		}
		if w.owner != nil {
			w.feed(w.owner, int(w.evt.last()))
		}
	}},
	{3, (*world).executeAgain},
	{3, (*world).lie},
	{20, func(w *world) {
		if w.owner != nil {
			w.feed(w.owner, 1+w.rng.IntN(20))
		}
	}},
	{10, func(w *world) {
		if w.owner != nil {
			w.tidy(w.owner)
		}
	}},
	{1, (*world).ageOut},
	{1, (*world).loseEvents},
	{2, func(w *world) {
		if w.owner != nil {
			w.endOrphans(w.owner)
		}
	}},
	{5, (*world).begin},
	{10, (*world).doKill},
	{5, (*world).letter},
	{12, (*world).relayHere},
	{2, (*world).replaceOwner},
	{8, func(w *world) {
		if w.owner != nil {
			w.relayAway(w.owner)
		}
	}},
	{10, func(w *world) {
		if w.owner != nil {
			w.look(w.owner)
		}
	}},
	{10, func(w *world) {
		if w.owner != nil {
			w.pauseJobs(w.owner)
		}
	}},
	{3, (*world).callOff},
	{3, (*world).condemn},
	{1, (*world).fillSome},
	{3, (*world).comeAndGo},
	{1, (*world).govern},
	{2, (*world).fillStream},
	{3, func(w *world) {
		if w.owner != nil {
			w.ask(w.owner)
		}
	}},
	{3, (*world).askLater},
	{1, (*world).cancelLater},
	{12, func(w *world) { w.runKeys.lookUp() }},
	{8, func(w *world) { w.runKeys.goOn() }},
	{5, func(w *world) { w.runKeys.store() }},
	{1, func(w *world) { w.runKeys.week() }},
	{2, (*world).runEarly},
	{2, func(w *world) {
		if w.owner != nil {
			w.askAgain(w.owner)
		}
	}},
	{4, (*world).crash},
	{8, func(w *world) {
		if w.owner == nil {
			w.takeOver()
		}
	}},
	{1, (*world).takeOver},
	{4, (*world).zombieSteps},
	{3, func(w *world) {
		for _, z := range slices.Clone(w.zombies) {
			w.tidy(z)
			w.feed(z, 5)
			w.relayAway(z)
		}
	}},
	{4, func(w *world) {
		if len(w.delayed) > 0 {
			w.deliver(w.delayed[0])
			w.delayed = w.delayed[1:]
		}
	}},
	{3, func(w *world) {
		if w.owner != nil && !w.punctual {
			w.owner.skew = w.skew()
		}
	}},
}

// saveJob makes a job, changes it, or deletes it.
func (w *world) saveJob() {
	name := w.names[w.rng.IntN(len(w.names))]
	if w.refuses(name) {
		return
	}
	was := w.newest[name]
	v := &job.Version{Version: 1, EffectiveFrom: instant(w.clock)}
	if was != nil {
		v.Skips = was.Skips
		v.Version = was.Version + 1
		if !v.EffectiveFrom.After(was.EffectiveFrom) {
			v.EffectiveFrom = was.EffectiveFrom.Add(time.Millisecond)
			if w.punctual {
				w.clock = v.EffectiveFrom.UnixMilli()
			}
		}
	}
	if was != nil && w.chance(60) {
		v.Job = was.Job
		v.Children = slices.Clone(v.Children)
		switch w.rng.IntN(6) {
		case 0:
			v.Paused, v.PausedUntil = !v.Paused, nil
		case 1:
			v.Deleted = !was.Deleted
			w.lives.edited[name] = true
		case 2:
			until := instant(w.clock + w.rng.Int64N(200*w.scale.unit.Milliseconds()))
			v.Paused, v.PausedUntil = false, &until
		case 3, 4:
			w.callFireOff(v)
		default:
			v.Misfire = w.misfire()
		}
	} else {
		v.Job = w.randomJob(name)
	}
	v.Task = job.Task{Shell: fmt.Sprintf("version %d", v.Version)}
	v.Job = v.WithDefaults()
	if v.Validate() != nil {
		v.Schedule.From, v.Schedule.Until = nil, nil // a schedule without a fire between them is refused
	}
	if err := v.Validate(); err != nil {
		fail("random job: %v", err)
	}
	w.saveVersion(v)
	w.say("save %s@%d: %s, paused %v, deleted %v, %+v", name, v.Version, v.Schedule, v.Paused, v.Deleted, v.Misfire)
}

// forget removes the versions of a job that was deleted and has nothing left to decide.
func (w *world) forget() {
	name := w.names[w.rng.IntN(len(w.names))]
	v := w.newest[name]
	if !w.punctual || v == nil || !v.Deleted || w.owner == nil || w.owner.batch != nil ||
		position(w.trig.cursor, name) < v.EffectiveFrom.UnixMilli()+30*w.scale.unit.Milliseconds() {
		return
	}
	w.say("forget %s", name)
	delete(w.newest, name)
	delete(w.kept, name)
	delete(w.broken, name)
	w.lives.forget(name)
	w.forgetLater(name)
	w.backfills.forget(name)
	delete(w.items, name)
	delete(w.last, name)
	w.zombies, w.delayed = nil, nil
	w.save(forgotten(name))
}

func (w *world) save(change any) {
	w.changes = append(w.changes, change)
	if !w.punctual {
		return
	}
	for _, o := range append([]*owner{w.owner}, w.zombies...) {
		for o != nil && o.heard < len(w.changes) {
			o.hear(w)
		}
	}
}

func (w *world) misfire() job.Misfire {
	m := job.Misfire{Policy: []job.MisfirePolicy{job.MisfireSkip, job.FireOnce, job.FireAll}[w.rng.IntN(3)]}
	if w.chance(50) {
		m.Grace = job.Duration(w.rng.Int64N(int64(100 * w.scale.unit)))
	}
	if m.Policy == job.FireAll && w.chance(70) {
		m.MaxCount = 1 + w.rng.IntN(job.MaxMaxCount)
		m.MaxAge = job.Duration(w.rng.Int64N(int64(w.scale.downtime)))
	}
	return m
}

func (w *world) randomJob(name job.Name) job.Job {
	j := job.Job{Job: name, Paused: w.chance(10), Misfire: w.misfire()}
	w.policies(&j, w.newest[name])
	s := &j.Schedule
	rate := job.Duration(w.scale.rates[w.rng.IntN(len(w.scale.rates))])
	kind := w.rng.IntN(10)
	if w.chains && w.chance(80) {
		kind = 9
	}
	if w.shifts && w.chance(80) {
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		s.Cron = w.scale.crons[w.rng.IntN(len(w.scale.crons))]
		s.Zone = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}[w.rng.IntN(4)]
		if s.Kind() == job.KindCron {
			s.DST = []string{"", "quartz", "vixie"}[w.rng.IntN(3)]
		}
	case 3, 4:
		s.FixedRate = rate
		if w.chance(30) {
			at := instant(w.start + 123)
			s.Anchor = &at
		}
	case 5:
		at := instant(w.clock + w.rng.Int64N(100*w.scale.unit.Milliseconds()))
		s.Once = &at
	case 6:
		if w.chance(60) {
			s.Every, s.Zone = w.every(), []string{"", "Asia/Kolkata"}[w.rng.IntN(2)]
		} // else manual
	default:
		s.FixedDelay = rate
	}
	if w.chance(15) {
		at := instant(w.clock + w.rng.Int64N(200*w.scale.unit.Milliseconds()))
		s.From = &at
	}
	if w.chance(10) {
		at := instant(w.clock + w.rng.Int64N(1000*w.scale.unit.Milliseconds()))
		if s.From == nil || at.After(*s.From) {
			s.Until = &at
		}
	}
	if w.chance(30) {
		s.Spread = job.Duration(w.rng.Int64N(int64(30*w.scale.unit)) + 1)
	}
	if w.chance(15) {
		s.Except = []string{"freeze"}
	}
	if w.chance(10) {
		s.Only = []string{"office"}
	}
	if s.Kind() == job.KindCron && (w.shifts || w.chance(10)) {
		if len(s.Except)+len(s.Only) == 0 {
			s.Except = []string{"freeze"}
		}
		s.Cron = []string{"0 * * * *", "0 3 * * sun", "0 */6 1-28/2 * *", "30 0 * * 1,3"}[w.rng.IntN(4)]
		s.Shift, s.Zone = job.Shifts[w.rng.IntN(2)], ""
		if w.shifts && w.chance(70) {
			j.Misfire, j.Paused = job.Misfire{Policy: job.FireAll}, false
		}
	}
	return j
}

// every makes an interval of the calendar that is not too rare. Its clocks are never moved, as
// the oracle knows no zones: package cron tries it on those nights.
func (w *world) every() *job.Every {
	e := &job.Every{From: instant(w.start).AddDate(0, 0, -w.rng.IntN(40)).Format(time.DateOnly)}
	for hour := range 24 {
		if len(e.At) == 0 || w.chance(30) {
			e.At = append(e.At, fmt.Sprintf("%02d:%02d", hour, w.rng.IntN(60)))
		}
	}
	switch w.rng.IntN(3) {
	case 0:
		e.Weeks, e.On = 1+w.rng.IntN(2), job.OneOrMore{"mon", "tue", "sat", "sun"}
	default:
		e.Days = 1 + w.rng.IntN(3)
	}
	return e
}

// saveTerms changes a calendar, or pauses or resumes a group or everything.
func (w *world) saveTerms() {
	at := instant(w.clock)
	if w.chance(50) {
		group, paused := "", true
		if w.chance(50) {
			group = w.names[w.rng.IntN(len(w.names))].Group()
		}
		for _, v := range slices.Backward(w.changes) {
			if h, ok := v.(hold); ok && h.group == group {
				if paused = !h.Paused; !at.After(h.EffectiveFrom) {
					return
				}
				break
			}
		}
		h := hold{group: group, Pause: job.Pause{Paused: paused, EffectiveFrom: at}}
		if paused && w.chance(50) {
			h.Until = instant(w.clock + w.rng.Int64N(200*w.scale.unit.Milliseconds()))
		}
		w.save(h)
		w.say("paused group %q: %v until %v", group, paused, h.Until)
		return
	}
	w.saveCalendar()
}

// saveCalendar changes a calendar.
func (w *world) saveCalendar() {
	at := instant(w.clock)
	name := []string{"freeze", "office"}[w.rng.IntN(2)]
	c := &job.CalendarVersion{Calendar: job.Calendar{Calendar: name}, EffectiveFrom: at, Version: 1, Deleted: w.chance(20)}
	for _, change := range w.changes {
		if old, ok := change.(*job.CalendarVersion); ok && old.Calendar.Calendar == name && !at.After(old.EffectiveFrom) {
			return
		}
	}
	c.Dates = []string{at.AddDate(0, 0, w.rng.IntN(3)).Format(time.DateOnly)}
	c.Windows = []job.Window{{From: at.Add(-time.Hour).Format("15:04"), To: at.Add(time.Duration(w.rng.IntN(600)) * w.scale.unit).Format("15:04")}}
	if w.chance(60) { // whole days
		c.Windows = []job.Window{{Days: []string{"sun", "mon,sun", "wed-fri", "sat-tue"}[w.rng.IntN(4)], From: "00:00", To: "24:00"}}
	}
	w.save(c)
	w.say("save calendar %s", name)
}
