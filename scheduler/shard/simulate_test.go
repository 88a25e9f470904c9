package shard

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// scale says how fast a world's jobs are, and how far its clock goes at once.
type scale struct {
	unit     time.Duration
	rates    []time.Duration
	crons    []string
	downtime time.Duration
}

var scales = []scale{
	{
		unit: 50 * time.Millisecond, downtime: 8 * time.Minute,
		rates: []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, time.Second, 1700 * time.Millisecond},
		crons: []string{"* * * * * ?", "*/7 * * * * ?", "0 * * * *", "@every 300ms"},
	},
	{
		unit: time.Second, downtime: 12 * time.Hour,
		rates: []time.Duration{7 * time.Second, time.Minute, 10 * time.Minute},
		crons: []string{"* * * * *", "*/5 * * * *", "30 * * * * ?", "0 2 * * *", "30 2 * * *", "15,45 1-3 * * *"},
	},
	{
		unit: time.Minute, downtime: 21 * 24 * time.Hour,
		rates: []time.Duration{10 * time.Minute, time.Hour, 36 * time.Hour},
		crons: []string{"*/10 * * * *", "30 2 * * *", "H H * * *", "0 3 * * sun", "@hourly", "0 0 12 1/2 * ?"},
	},
}

// settle lets everything come to rest: a last owner hears all, and decides all.
func (w *world) settle() {
	w.zombies, w.delayed = nil, nil
	if w.owner != nil {
		w.owner = nil
	}
	w.clock += 5000
	w.restPlainly()
	w.room = nil
	w.takeOver()
	o := w.owner
	o.skew = 0
	w.clock = max(w.clock, w.latest()) // it catches up with those that were ahead
	for _, group := range simGroups {
		w.online[group] = instancesOf("a", "b")
		o.m.PutInstances(group, w.online[group])
	}
	commit := func() {
		for range 100_000 {
			for o.m.items.crowded() {
				w.tidy(o)
			}
			b := o.m.Step(w.clock, bus.MaxBatch)
			if b == nil {
				w.lives.checkPlaces(o.known)
				return
			}
			if !w.deliver(delivery{owner: o, batch: b, now: w.clock, known: o.known.snapshot()}) {
				fail("the only owner is refused")
			}
			o.m.Committed(w.trig.cursorSeq)
			w.acknowledge(b)
		}
		fail("steps never end")
	}
	commit()
	if o.m.sweep.to != 0 {
		fail("a sweep to %s does not end", instant(o.m.sweep.to))
	}
	w.settleLetters()
	w.look(o)
	before := map[job.Name]int{}
	count := func() {
		for _, r := range w.runs {
			before[r.trigger.Job]++
		}
	}
	count()
	for range 3 { // every run ends, and fixed delays go on
		for len(w.live) > 0 {
			w.finish(w.live[0])
		}
		w.feed(o, int(w.evt.last()))
		w.endOrphans(o) // whose events are gone
		w.feed(o, int(w.evt.last()))
		w.look(o)
		commit()
		w.clock += w.scale.rates[len(w.scale.rates)-1].Milliseconds() + w.scale.unit.Milliseconds()*31
		commit()
	}
	w.clock += IdleAfter
	commit()
	if w.trig.cursor.Done.UnixMilli() != w.clock {
		fail("the cursor stays at %s", w.trig.cursor.Done)
	}
	after := map[job.Name]int{}
	for _, r := range w.runs {
		after[r.trigger.Job]++
	}
	for _, name := range w.names {
		v := w.newest[name]
		reactions := job.Reactions{}
		if v != nil {
			reactions = job.ReactionsOf(&v.Job)
		}
		free := v != nil && !reactions.Watched() && !v.Deleted && !v.Paused && v.PausedUntil == nil && v.Schedule.Kind() == job.KindFixedDelay && v.Schedule.From == nil && v.Schedule.Until == nil &&
			len(v.Schedule.Except)+len(v.Schedule.Only) == 0 && v.Misfire.Policy != job.MisfireSkip && o.known.held(name, w.clock) == ""
		if free && after[name] == before[name] {
			fail("%s does not go on", name)
		}
	}
	w.checkWaitingResumed(delivery{now: w.clock, known: o.known})
	w.rest(o, commit)
	if o.m.Events.Seq() != w.trig.cursor.EventSeq {
		fail("events up to %d have had their effect, but the cursor says %d", o.m.Events.Seq(), w.trig.cursor.EventSeq)
	}
	w.checkEnd()
}

// rest pauses everything and lets all runs end well, until none is left.
func (w *world) rest(o *owner, commit func()) {
	w.save(hold{Pause: job.Pause{Paused: true, EffectiveFrom: instant(w.clock)}})
	o.hear(w)
	w.endAll(o, commit)
	w.clock += max(IdleAfter, 31*w.scale.unit.Milliseconds()) // what fired before the pause is due by then, however it is spread
	commit()
	w.endAll(o, commit)
	for id, d := range o.m.delays.byJob {
		if d.run != "" {
			fail("%s waits for the end of run %s, and none is alive", o.m.jobs.at(id).name, d.run)
		}
	}
	w.clock += IdleAfter
	commit()
}

// endAll lets all runs end well, until none is left, nor a letter to relay.
func (w *world) endAll(o *owner, commit func()) {
	for i := 0; i < 1000 || i < 20_000 && len(o.m.runs.byID) > 0; i++ { // a run may have a thousand pieces, one at a time
		for len(w.live) > 0 {
			w.finishAs(w.live[0], job.StatusSucceeded)
		}
		w.kills = nil
		w.feed(o, int(w.evt.last()))
		w.endOrphans(o)
		w.look(o)
		for _, p := range o.m.Failures.Pauses() {
			o.m.Failures.Paused(p)
		}
		w.relayAllAway(o)
		commit()
		w.tidy(o) // or the cursor would list ever more items
		if len(w.live) == 0 && len(o.m.runs.byID) == 0 && o.m.LastItem() >= w.lastDeferred() && o.m.Relay.Len() == 0 {
			break
		}
		w.clock += w.scale.unit.Milliseconds() * 31
	}
}

// lastDeferred returns the sequence of the last deferred item.
func (w *world) lastDeferred() uint64 {
	last := uint64(0)
	for seq := range w.trig.deferred {
		last = max(last, seq)
	}
	return last
}

// play makes a history of the given length from a seed. The error is what broke.
func play(seed uint64, length int) (w *world, err error) {
	return playBy(rand.NewPCG(seed, 1), length)
}

// playBy makes a history of the given length, in which choices decide what happens.
func playBy(choices rand.Source, length int) (w *world, err error) {
	w = newWorld(choices)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s", string(r))
		default:
			err = fmt.Errorf("%v\n%s", r, debug.Stack())
		}
	}()
	total := 0
	for _, op := range operations {
		total += op.weight
	}
	w.takeOver()
	if w.shifts {
		w.clock++ // calendars hold after the instant at which they are saved
		w.saveCalendar()
		w.clock++
		w.saveCalendar()
	}
	for range w.names {
		w.saveJob()
	}
	for range length {
		n := w.rng.IntN(total)
		for _, op := range operations {
			if n -= op.weight; n < 0 {
				op.do(w)
				break
			}
		}
	}
	w.settle()
	return w, nil
}

// replay reports a history of the seed that breaks, and is about as short as can be.
func replay(t *testing.T, seed uint64, length int, err error) {
	t.Helper()
	var w *world
	for n := 0; n <= length; n += 1 + length/100 {
		if short, e := play(seed, n); e != nil {
			w, err, length = short, e, n
			break
		}
	}
	if w != nil {
		t.Log("what happened:\n" + strings.Join(w.story[max(0, len(w.story)-60):], "\n"))
	}
	t.Fatalf("%v\n(after %d operations of the history that -seed %d plays again)", err, length, seed)
}

var seedFlag = flag.Uint64("seed", 0, "play the history of this seed, and no other")

// chaosLength is how many operations the histories have whose seeds are not fixed.
const chaosLength = 1000

// histories returns how many random histories a test plays: n, or a quarter of them with -short.
func histories(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}

// playedLength is how many operations the histories of playedWorlds have.
const playedLength = 600

var played struct {
	once   sync.Once
	worlds []*world
}

// playedWorlds returns the worlds of random histories that several tests look at. They are played once.
func playedWorlds(t *testing.T) []*world {
	t.Helper()
	played.once.Do(func() {
		for seed := range histories(120) {
			w, err := play(seed, playedLength)
			if err != nil {
				replay(t, seed, playedLength, err)
			}
			played.worlds = append(played.worlds, w)
		}
	})
	return played.worlds
}

func TestRandomHistoriesKeepTheFirstPromise(t *testing.T) {
	if *seedFlag != 0 {
		if _, err := play(*seedFlag, chaosLength); err != nil {
			replay(t, *seedFlag, chaosLength, err)
		}
		return
	}
	first := uint64(len(playedWorlds(t))) // the histories before it have kept it
	lanes := uint64(runtime.GOMAXPROCS(0))
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			for seed := first + lane; seed < histories(200); seed += lanes {
				if _, err := play(seed, 400); err != nil {
					replay(t, seed, 400, err)
				}
			}
		})
	}
}

func TestASeedPlaysTheSameHistoryAgain(t *testing.T) {
	for seed, w := range playedWorlds(t)[:histories(20)] {
		again, err := play(uint64(seed), playedLength)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.story, again.story); diff != "" {
			t.Fatalf("seed %d plays another history the second time (-first +second):\n%s", seed, diff)
		}
	}
}

func TestChaosRandomHistoriesKeepTheFirstPromise(t *testing.T) {
	var length time.Duration // by default, a number of histories ends it
	if text := os.Getenv("CARILLON_CHAOS"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("CARILLON_CHAOS: %v", err)
		}
	}
	begin := time.Now()
	seed := uint64(begin.UnixNano())
	played, fires, years := 0, 0, 0.0
	for ; length == 0 && played < int(histories(16)) || time.Since(begin) < length; seed++ {
		w, err := play(seed, chaosLength)
		if err != nil {
			replay(t, seed, chaosLength, err)
		}
		played++
		fires += w.fires
		years += (time.Duration(w.clock-w.start) * time.Millisecond).Hours() / 8766
	}
	s := time.Since(begin).Seconds()
	t.Logf("%.0f histories/s, %.2f virtual years/s, %.0f fires/s", float64(played)/s, years/s, float64(fires)/s)
}
