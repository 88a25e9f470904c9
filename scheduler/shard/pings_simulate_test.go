package shard

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

var pingHistories = flag.Int("pings", 60, "random `histories` of pings, of which -short plays a quarter")

// elsewhere is a world in which jobs are done by somebody else, who pings, and owners of their shard come and go.
type elsewhere struct {
	t     *testing.T
	rng   *rand.Rand
	seed  uint64
	clock int64
	trig  *stream
	m     *Machine
	epoch uint64

	versions []*job.Version
	posts    []post // in the order in which they arrive
	stored   []storedPing
	lines    []journal.Decided
}

// post is a ping on its way.
type post struct {
	*bus.Ping
	at     int64 // when what it tells was so
	arrive int64
}

type storedPing struct {
	*bus.Ping
	at int64
}

// execution is what was done elsewhere for a fire.
type execution struct {
	job   job.Name
	fire  int64
	begin int64
	end   int64
	pings []*bus.Ping
}

func newElsewhere(t *testing.T, seed uint64) *elsewhere {
	t.Helper()
	w := &elsewhere{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), clock: noon.UnixMilli()}
	w.trig = newStream(&journal.Cursor{Shard: simShard, Done: noon})
	return w
}

func (w *elsewhere) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *elsewhere) between(least, most int64) int64 { return least + w.rng.Int64N(most-least+1) }

// watch saves a job that fires at a fixed rate from noon on.
func (w *elsewhere) watch(name job.Name, gap, grace time.Duration, from job.WatchFrom) *job.Version {
	anchor := noon
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job, v.Task.Watch = name, &job.Watch{Grace: job.Duration(grace), From: from}
	v.Schedule.FixedRate, v.Schedule.Anchor = job.Duration(gap), &anchor
	v.Timeout = job.Duration(30 * 24 * time.Hour)
	v.Job = v.WithDefaults()
	if err := v.Validate(); err != nil {
		w.t.Fatal(err)
	}
	w.versions = append(w.versions, v)
	return v
}

// takeOver makes a new owner.
func (w *elsewhere) takeOver() {
	w.epoch++
	w.m = New(Config{Tokens: tokens, Shard: simShard, Shards: simShards, Epoch: w.epoch, Node: fmt.Sprint("n", w.epoch), Planner: &job.Planner{}}, w.trig.cursor, w.trig.cursorSeq)
	if w.publish(w.m.Claim(w.clock)); w.m == nil {
		return // it died at once
	}
	for i, v := range w.versions {
		if err := w.m.PutVersion(v, revision(i)); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(w.trig.deferred)) {
		if err := w.m.PutDeferred(w.trig.deferred[seq], seq); err != nil {
			w.t.Fatal(err)
		}
	}
	for i, p := range w.stored {
		w.m.Ping(p.Ping, uint64(i+1), p.at)
	}
}

// publish stores a batch. Now and then its owner dies before it hears of that, or before it has deleted anything.
func (w *elsewhere) publish(b *Batch) {
	s := w.trig.publish(b.Messages)
	if s == nil {
		w.t.Fatalf("history %d: the only owner is refused", w.seed)
	}
	if len(s.triggers) > 0 {
		w.t.Fatalf("history %d: a trigger of a job whose runs are done elsewhere", w.seed)
	}
	if s.record != nil {
		if err := s.record.Each(func(d journal.Decided) { w.lines = append(w.lines, d) }); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.chance(2) {
		w.m = nil
		return
	}
	w.m.Committed(s.first)
	if w.chance(2) {
		w.m = nil
		return
	}
	deleted := map[uint64]bool{}
	for _, seq := range w.m.Released() {
		w.trig.remove(seq)
		deleted[seq] = true
	}
	w.m.Deleted(deleted)
}

// run lets time pass. If there is no owner, the next comes after a while: away says how long it may take.
func (w *elsewhere) run(until int64, away time.Duration) {
	for w.clock < until {
		next := until
		if len(w.posts) > 0 {
			next = min(next, w.posts[0].arrive)
		}
		if w.m == nil {
			back := w.clock + w.between(0, away.Milliseconds())
			w.arrivals(min(back, until))
			w.clock = min(back, until)
			w.takeOver()
			continue
		}
		if at, ok := w.m.NextAt(w.clock); ok {
			next = min(next, max(at, w.clock))
		}
		w.clock = next
		w.arrivals(next)
		for w.m != nil {
			b := w.m.Step(w.clock, 6+w.rng.IntN(20))
			readAll(w.m, w.clock)
			if b == nil {
				break
			}
			w.publish(b)
		}
		if w.m != nil && w.chance(1) {
			w.m = nil
		}
	}
}

// arrivals stores the pings that arrive up to an instant.
func (w *elsewhere) arrivals(upto int64) {
	for len(w.posts) > 0 && w.posts[0].arrive <= upto {
		p := w.posts[0]
		w.posts = w.posts[1:]
		p.Age = job.Duration(time.Duration(p.arrive-p.at) * time.Millisecond)
		w.stored = append(w.stored, storedPing{p.Ping, p.arrive})
		if w.m != nil {
			w.m.Ping(p.Ping, uint64(len(w.stored)), p.arrive)
		}
	}
}

// send puts a ping of an execution on its way.
func (w *elsewhere) send(x *execution, kind bus.PingKind, at, arrive int64) *bus.Ping {
	p := &bus.Ping{ID: fmt.Sprintf("%016x", w.rng.Uint64()), Job: x.job, Kind: kind}
	w.posts = append(w.posts, post{p, at, max(at, arrive)})
	x.pings = append(x.pings, p)
	return p
}

func (w *elsewhere) sortPosts() {
	slices.SortStableFunc(w.posts, func(a, b post) int { return int(a.arrive - b.arrive) })
}

// ofRun are the lines of one run, in order.
func (w *elsewhere) ofRun() map[job.RunID][]journal.Decided {
	of := map[job.RunID][]journal.Decided{}
	for _, l := range w.lines {
		of[l.RunID] = append(of[l.RunID], l)
		i := slices.IndexFunc(w.versions, func(v *job.Version) bool { return v.Job.Job == l.Job })
		for n := range l.Count - 1 { // each fire has a run of its own, though none of them began
			fire := l.FireTime.Add(time.Duration(n+1) * w.versions[i].Schedule.FixedRate.Std())
			id := job.FireRunID(l.Job, fire.UnixMilli(), l.Cause)
			of[id] = append(of[id], l)
		}
	}
	return of
}

func tellLines(lines []journal.Decided) string {
	var text strings.Builder
	for _, l := range lines {
		_, _ = fmt.Fprintf(&text, "\n\t%s %s %s (%d): %s", l.FireTime.Format(time.TimeOnly), l.Status, l.Cause, l.Count, l.Reason)
		if l.Ping != nil {
			_, _ = fmt.Fprintf(&text, " %+v", *l.Ping)
		}
	}
	return text.String()
}

// check checks what holds whatever happens.
func (w *elsewhere) check() {
	w.t.Helper()
	told := map[string]int{}
	for id, lines := range w.ofRun() {
		ended := false
		for i, l := range lines {
			if l.Ping != nil {
				told[l.Ping.ID]++
			}
			if l.Cause.Scheduled() && i == 0 && l.Ping != nil {
				w.t.Errorf("history %d: run %s begins with a ping: %s", w.seed, id, tellLines(lines))
			}
			if l.Ping == nil && (ended || i > 0 && !l.Status.Final()) {
				w.t.Errorf("history %d: run %s goes on after its end: %s", w.seed, id, tellLines(lines))
			}
			ended = ended || l.Status.Final()
		}
	}
	for _, p := range w.stored {
		if n := told[p.ID]; n > 1 || n == 0 && p.Kind == bus.PingEnd {
			w.t.Errorf("history %d: %d lines tell of ping %s", w.seed, n, p.ID)
		}
	}
}

// checkAtRest checks that nothing of the jobs is left but that they were heard. Their time must be over.
func (w *elsewhere) checkAtRest() {
	w.t.Helper()
	for _, d := range w.trig.deferred {
		if d.Kind != journal.DeferredHeard {
			w.t.Errorf("history %d: an item is left: %s of %s", w.seed, d.Kind, d.Job)
		}
	}
}

// Whoever wraps its commands sends keys, and how long a run took. Whatever else happens, in whatever order and however late
// its pings come, each tells of the run of its fire: those that were not done are missed, and no others.
func TestPingsWithKeysTellOfTheRunsOfTheirFires(t *testing.T) {
	for seed := range histories(uint64(*pingHistories)) {
		w := newElsewhere(t, seed)
		gap := []time.Duration{time.Minute, 10 * time.Minute, time.Hour}[w.rng.IntN(3)]
		grace := max(time.Duration(w.rng.Int64N(int64(2*gap))), 10*time.Second).Truncate(time.Second)
		spool := w.chance(50)
		v := w.watch("g/a", gap, grace, job.WatchFromNow)
		early := min(time.Minute, gap/2).Milliseconds()
		w.takeOver()
		done := map[int64]*execution{}
		fires := 20
		for i := 1; i <= fires; i++ {
			fire := noon.Add(time.Duration(i) * gap).UnixMilli()
			if w.chance(15) {
				continue
			}
			x := &execution{job: v.Job.Job, fire: fire, begin: w.between(fire-early, fire+min(grace, gap-time.Duration(early)*time.Millisecond-1).Milliseconds())}
			x.end = x.begin + w.between(0, 2*gap.Milliseconds())
			done[fire] = x
			later := func() int64 {
				if spool && w.chance(30) {
					return w.between(0, 3*gap.Milliseconds())
				}
				return w.between(0, 200)
			}
			key := fmt.Sprint("k", i)
			started := x.begin + later()
			if w.chance(80) {
				w.send(x, bus.PingStart, x.begin, started).Key = key
			}
			p := w.send(x, bus.PingEnd, x.end, max(x.end, started)+later())
			p.Key, p.Took, p.Failed = key, job.Duration(time.Duration(x.end-x.begin)*time.Millisecond), w.chance(10)
		}
		w.sortPosts()
		end := noon.Add(time.Duration(fires)*gap + gap/2).UnixMilli()
		for w.run(end, 3*gap); w.m == nil || w.m.sweep.done < end; { // else fires would be late, and the job paused by then
			w.run(w.clock+1000, time.Millisecond)
		}
		over := *v
		over.Version, over.EffectiveFrom, over.Paused = 2, instant(w.clock), true
		w.versions = append(w.versions, &over)
		if w.m != nil {
			if err := w.m.PutVersion(&over, revision(1)); err != nil {
				t.Fatal(err)
			}
		}
		w.run(w.clock+(8*time.Hour).Milliseconds(), time.Minute)
		w.check()
		w.checkAtRest()
		runs := w.ofRun()
		for i := 1; i <= fires; i++ {
			fire := noon.Add(time.Duration(i) * gap).UnixMilli()
			lines := runs[job.FireRunID("g/a", fire, job.CauseSchedule)]
			if len(lines) == 0 {
				t.Errorf("history %d: nothing is known of fire %d", seed, i)
				continue
			}
			x := done[fire]
			if x == nil {
				if last := lines[len(lines)-1]; last.Status != job.StatusMissed || last.Ping != nil {
					t.Errorf("history %d: fire %d was not done, and is %s by ping %v", seed, i, last.Status, last.Ping)
				}
				continue
			}
			told := slices.ContainsFunc(lines, func(l journal.Decided) bool { return l.Ping != nil && l.Ping.ID == x.pings[len(x.pings)-1].ID })
			if !told {
				t.Errorf("history %d: the end of the run of fire %d is not told of it: gap %s, grace %s, %s", seed, i, gap, grace, tellLines(lines))
			}
		}
		for id, lines := range runs {
			if lines[0].Cause == job.CausePing {
				t.Errorf("history %d: run %s, which no fire asked for", seed, id)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// Whoever holds a token can report starts for ever. What the shard keeps of them has a bound.
func TestStartsWithoutEndsAreBounded(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Task = job.Task{Watch: &job.Watch{}} })
	for i := range maxOpen + 10 {
		b.m.Ping(&bus.Ping{ID: fmt.Sprintf("%016x", i), Job: "g/a", Kind: bus.PingStart}, uint64(i+1), noon.UnixMilli())
	}
	begun, refused := 0, 0
	for {
		lines := b.step(time.Second, bus.MaxBatch)
		if len(lines) == 0 {
			break
		}
		for _, l := range lines {
			if strings.Contains(l, "skipped") {
				refused++
			} else {
				begun++
			}
		}
	}
	if begun != maxOpen || refused != 10 {
		t.Errorf("%d runs have begun, and %d starts are refused", begun, refused)
	}
}

// Pings of any kind, without keys, repeated, lost and too many: the rules of the books hold.
func TestPingsOfAnyKindAreToldOnce(t *testing.T) {
	for seed := range histories(uint64(*pingHistories)) {
		w := newElsewhere(t, seed)
		gaps := []time.Duration{time.Minute, 10 * time.Minute, time.Hour}
		for i := range 3 {
			gap := gaps[w.rng.IntN(3)]
			v := w.watch(job.Name(fmt.Sprint("g/", i)), gap, max(time.Duration(w.rng.Int64N(int64(3*gap))), 10*time.Second), []job.WatchFrom{job.WatchFromNow, job.WatchFromFirstPing}[w.rng.IntN(2)])
			v.Timeout = job.Duration(time.Minute)
			for range 60 {
				x := &execution{job: v.Job.Job, begin: noon.UnixMilli() + w.between(0, 20*time.Hour.Milliseconds()/int64(time.Hour/gap))}
				x.end = x.begin + w.between(0, 2*gap.Milliseconds())
				key := ""
				if w.chance(40) {
					key = fmt.Sprint("k", w.rng.IntN(20))
				}
				if w.chance(60) {
					w.send(x, bus.PingStart, x.begin, x.begin+w.between(0, gap.Milliseconds())).Key = key
				}
				if w.chance(80) {
					p := w.send(x, bus.PingEnd, x.end, x.end+w.between(0, 2*gap.Milliseconds()))
					p.Key = key
					if w.chance(50) {
						p.Took = job.Duration(time.Duration(x.end-x.begin) * time.Millisecond)
					}
				}
			}
		}
		w.sortPosts()
		w.takeOver()
		w.run(noon.Add(24*time.Hour).UnixMilli(), 3*time.Hour)
		for i, v := range slices.Clone(w.versions) {
			over := *v
			over.Version, over.EffectiveFrom, over.Paused = 2, instant(w.clock), true
			w.versions = append(w.versions, &over)
			if w.m != nil {
				if err := w.m.PutVersion(&over, revision(3+i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.run(w.clock+(8*time.Hour).Milliseconds(), time.Minute)
		w.check()
		w.checkAtRest()
		if t.Failed() {
			return
		}
	}
}
