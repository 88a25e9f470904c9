package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// noon is when the shards of these tests begin.
var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// world of one machine: cursor, stream, and what was decided.
type bench struct {
	t    *testing.T
	m    *Machine
	trig *stream
	revs map[string]uint64 // of the versions told
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, revs: map[string]uint64{}, trig: newStream(&journal.Cursor{Shard: simShard, Done: noon})}
	b.succeed()
	return b
}

// succeed makes the machine anew from what is stored, as a successor would.
func (b *bench) succeed() {
	b.m = New(Config{Tokens: tokens, Shard: simShard, Epoch: 7, Node: "n", Planner: &job.Planner{}}, b.trig.cursor, b.trig.cursorSeq)
}

// put tells the machine of a version of a job, effective so long after noon.
func (b *bench) put(after time.Duration, version int, change func(*job.Version)) *job.Version {
	b.t.Helper()
	v := &job.Version{Version: version, EffectiveFrom: noon.Add(after)}
	v.Job.Job, v.Task.Handler = "g/a", "h"
	change(v)
	v.Job = v.WithDefaults()
	b.tell(v)
	return v
}

// tell tells the machine of a version.
func (b *bench) tell(v *job.Version) {
	b.t.Helper()
	name := journal.JobVersion(v.Job.Job, v.Version)
	if b.revs[name] == 0 {
		b.revs[name] = uint64(len(b.revs) + 1)
	}
	if err := b.m.PutVersion(v, b.revs[name]); err != nil {
		b.t.Fatal(err)
	}
}

// step lets so much time have passed since noon, and returns what was decided.
func (b *bench) step(after time.Duration, room int) []string {
	b.t.Helper()
	batch := b.m.Step(noon.Add(after).UnixMilli(), room)
	if batch == nil {
		return nil
	}
	s := b.trig.publish(batch.Messages)
	if s == nil {
		b.t.Fatal("refused")
	}
	b.m.Committed(s.first)
	if s.record == nil {
		return []string{}
	}
	var lines []string
	err := s.record.Each(func(d journal.Decided) {
		line := fmt.Sprintf("%s %s@%d %s %s", d.FireTime.Format("15:04:05"), d.Job, d.Version, d.Status, d.Cause)
		if d.Count > 1 {
			line = d.FireTime.Format("15:04:05-") + d.Until.Format("15:04:05") + fmt.Sprintf("(%d)", d.Count) + line[8:]
		}
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		lines = append(lines, line)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return lines
}

func (b *bench) want(got []string, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.t.Errorf("decided (-want +got):\n%s", diff)
	}
}

func every(d time.Duration, policy job.MisfirePolicy) func(*job.Version) {
	return func(v *job.Version) {
		anchor := noon
		v.Schedule.FixedRate, v.Schedule.Anchor, v.Misfire.Policy = job.Duration(d), &anchor, policy
	}
}

func TestAFireBecomesOneTriggerInOneBatchWithCursorAndRecord(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Schedule.Cron = "* * * * *" })
	if got := b.step(5*time.Second, bus.MaxBatch); got != nil {
		t.Errorf("decided %q before anything is due", got)
	}
	batch := b.m.Step(noon.Add(time.Minute).UnixMilli(), bus.MaxBatch)
	var kinds []string
	for _, msg := range batch.Messages {
		kinds = append(kinds, msg.Subject+" "+msg.Header.Get(bus.HeaderMessage))
	}
	want := []string{"cur.5 cursor.v1", "trig.5.any.g trigger.v1", "rec.5 record.v1"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("batch (-want +got):\n%s", diff)
	}
	if batch.Triggers != 1 || len(batch.Due) != 1 || batch.Due[0] != noon.Add(time.Minute).UnixMilli() {
		t.Errorf("%d triggers, due %v", batch.Triggers, batch.Due)
	}
	b.m.Committed(10)
	if again := b.m.Step(noon.Add(time.Minute).UnixMilli(), bus.MaxBatch); again != nil {
		t.Errorf("a second batch for the same instant: %+v", again)
	}
}

func TestAFireIsLateWhenMoreThanTheGraceHasPassed(t *testing.T) {
	const grace = job.DefaultGrace
	for _, policy := range []job.MisfirePolicy{job.MisfireSkip, job.FireOnce, job.FireAll} {
		b := newBench(t)
		b.put(0, 1, every(time.Minute, policy))
		b.want(b.step(time.Minute+grace, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	}
	late := func(policy job.MisfirePolicy, want string) {
		t.Helper()
		b := newBench(t)
		b.put(0, 1, every(time.Minute, policy))
		b.want(b.step(time.Minute+grace+time.Millisecond, bus.MaxBatch), want)
	}
	late(job.MisfireSkip, "12:01:00 g/a@1 missed schedule: noticed too late; the misfire policy is skip")
	late(job.FireOnce, "12:01:00 g/a@1 pending misfire: noticed 15.001s late")
	late(job.FireAll, "12:01:00 g/a@1 pending misfire: noticed 15.001s late")
}

func TestSeveralLateFiresAreJudgedByTheMisfirePolicy(t *testing.T) {
	judged := func(change func(*job.Version), want ...string) {
		t.Helper()
		b := newBench(t)
		b.put(0, 1, func(v *job.Version) { v.Schedule.Cron = "*/10 * * * *"; change(v) })
		b.want(b.step(45*time.Minute, bus.MaxBatch), want...)
	}
	judged(func(v *job.Version) { v.Misfire.Policy = job.MisfireSkip },
		"12:10:00-12:40:00(4) g/a@1 missed schedule: noticed too late; the misfire policy is skip")
	judged(func(v *job.Version) { v.Misfire.Policy = job.FireOnce },
		"12:10:00-12:30:00(3) g/a@1 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
		"12:40:00 g/a@1 pending misfire: noticed 5m late; it stands for 4 misfires")
	judged(func(v *job.Version) { v.Misfire = job.Misfire{Policy: job.FireAll, MaxCount: 2} },
		"12:10:00-12:20:00(2) g/a@1 missed schedule: noticed too late; it is older than the misfire policy fire_all reaches",
		"12:30:00 g/a@1 pending misfire: noticed 15m late",
		"12:40:00 g/a@1 pending misfire: noticed 5m late")
	ageOf := func(age time.Duration) func(*job.Version) {
		return func(v *job.Version) { v.Misfire = job.Misfire{Policy: job.FireAll, MaxAge: job.Duration(age)} }
	}
	judged(ageOf(5*time.Minute), // exactly as old as may be
		"12:10:00-12:30:00(3) g/a@1 missed schedule: noticed too late; it is older than the misfire policy fire_all reaches",
		"12:40:00 g/a@1 pending misfire: noticed 5m late")
	judged(ageOf(5*time.Minute-time.Millisecond),
		"12:10:00-12:40:00(4) g/a@1 missed schedule: noticed too late; it is older than the misfire policy fire_all reaches")
}

func TestLateFiresOfAJobThatIsPausedOrDeletedByNowAreMissed(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.FireAll))
	paused := *v
	paused.Version, paused.Paused, paused.EffectiveFrom = 2, true, noon.Add(90*time.Second)
	b.tell(&paused)
	b.want(b.step(150*time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 missed schedule: noticed too late; the job was paused by then",
		"12:02:00 g/a@2 skipped schedule: the job is paused")

	b = newBench(t)
	v = b.put(0, 1, every(time.Minute, job.FireAll))
	deleted := *v
	deleted.Version, deleted.Deleted, deleted.EffectiveFrom = 2, true, noon.Add(90*time.Second)
	b.tell(&deleted)
	b.want(b.step(150*time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 missed schedule: noticed too late; the job was deleted by then")

	b = newBench(t)
	b.put(0, 1, every(time.Minute, job.FireAll))
	b.m.Cluster.PutHold("", job.Pause{Paused: true, EffectiveFrom: noon.Add(90 * time.Second)})
	b.want(b.step(150*time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 missed schedule: noticed too late; everything was paused by then",
		"12:02:00 g/a@1 skipped schedule: everything is paused")
}

func TestLateFiresAreJudgedByTheVersionThatIsEffectiveNow(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Minute, job.FireOnce))
	b.put(2*time.Minute, 2, every(time.Minute, job.MisfireSkip)) // saved by a clock that is ahead of ours
	b.want(b.step(90*time.Second, bus.MaxBatch), "12:01:00 g/a@1 pending misfire: noticed 30s late")
}

func TestCalendarsSkipFires(t *testing.T) {
	b := newBench(t)
	for _, c := range []job.Calendar{
		{Calendar: "freeze", Windows: []job.Window{{From: "12:01", To: "12:02"}}},
		{Calendar: "office", Windows: []job.Window{{From: "12:00", To: "12:03"}}},
	} {
		if err := b.m.Cluster.PutCalendar(&job.CalendarVersion{Calendar: c, Version: 1, EffectiveFrom: noon.Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	// It holds up to its end, inclusive.
	if err := b.m.Cluster.PutCalendar(&job.CalendarVersion{Calendar: job.Calendar{Calendar: "freeze"}, Version: 2, EffectiveFrom: noon.Add(time.Minute), Deleted: true}); err != nil {
		t.Fatal(err)
	}
	b.put(0, 1, func(v *job.Version) {
		v.Schedule = job.Schedule{Cron: "* * * * *", Except: []string{"freeze"}, Only: []string{"office"}}
		v.Misfire.Grace = job.Duration(time.Hour)
	})
	b.want(b.step(3*time.Minute, bus.MaxBatch),
		"12:01:00 g/a@1 skipped schedule: calendar freeze excludes it",
		"12:02:00 g/a@1 pending schedule",
		"12:03:00 g/a@1 skipped schedule: calendar office does not include it")
	bad := &job.CalendarVersion{Calendar: job.Calendar{Calendar: "bad", Dates: []string{"02-30"}}, Version: 1, EffectiveFrom: noon}
	if err := b.m.Cluster.PutCalendar(bad); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("a calendar with 30 February: %v", err)
	}
}

func TestTooManyLateFiresAreJudgedTogether(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Second, job.FireOnce))
	b.want(b.step(time.Hour, bus.MaxBatch)[:3],
		"12:00:01-12:43:04(2584) g/a@1 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
		"12:59:45 g/a@1 pending schedule",
		"12:59:46 g/a@1 pending schedule")
	if b.m.sweep.done != noon.Add(time.Hour).UnixMilli() {
		t.Errorf("done up to %s", instant(b.m.sweep.done))
	}
	b = newBench(t)
	b.put(0, 1, every(time.Second, job.FireOnce))
	got := b.step(time.Hour, bus.MaxBatch)
	if want := "12:59:44 g/a@1 pending misfire: noticed 16s late; it stands for 3584 misfires"; got[len(got)-1] != want {
		t.Errorf("last %q, want %q", got[len(got)-1], want)
	}
}

func TestAJobsVersionsTogetherFitIntoOneBatch(t *testing.T) {
	b := newBench(t)
	for i := range 4 {
		b.put(time.Duration(i)*time.Minute, i+1, func(v *job.Version) {
			v.Schedule.FixedRate = job.Duration(100 * time.Millisecond)
			v.Misfire = job.Misfire{Policy: job.FireAll, MaxCount: job.MaxMaxCount, Grace: job.Duration(time.Hour)}
		})
	}
	got := b.step(4*time.Minute, bus.MaxBatch)
	pending, misfires := 0, 0
	for _, line := range got {
		if strings.Contains(line, " pending schedule") {
			pending++
		}
		if strings.Contains(line, " pending misfire") {
			misfires++
		}
	}
	if pending != maxOnTime || misfires != job.MaxMaxCount {
		t.Errorf("%d runs in time and %d late ones; want %d and %d", pending, misfires, maxOnTime, job.MaxMaxCount)
	}
	if b.m.sweep.done != noon.Add(4*time.Minute).UnixMilli() {
		t.Error("the step does not end")
	}
}

func TestASweepThatIsCutGoesOnWithASuccessor(t *testing.T) {
	b := newBench(t)
	put := func() {
		for i := range 10 {
			b.put(0, 1, func(v *job.Version) {
				v.Job.Job = job.Name(fmt.Sprintf("g/job-%d", i))
				v.Schedule.Cron = "1 12 * * *"
			})
		}
	}
	put()
	seen := map[string]bool{}
	for i, room := range []int{7, 6, 20} { // beside the cursor, the notice and the record
		got := b.step(time.Minute+time.Duration(i)*time.Second, room)
		if want := []int{4, 3, 3}[i]; len(got) != want {
			t.Errorf("room for %d: decided %q", room, got)
		}
		for _, line := range got {
			if seen[line] {
				t.Errorf("twice: %s", line)
			}
			seen[line] = true
		}
		if at, _ := b.m.NextAt(b.m.sweep.done); i == 2 && at <= b.m.sweep.done {
			t.Errorf("the sweep has ended at %s, but something is to be done at %s", instant(b.m.sweep.done), instant(at))
		}
		b.succeed()
		put()
	}
	if len(seen) != 10 {
		t.Errorf("%d fires of 10", len(seen))
	}
	if got := b.step(10*time.Minute, bus.MaxBatch); len(got) != 0 {
		t.Errorf("and again %q", got)
	}
}

func TestManySkippedFiresAreSplitOverRecords(t *testing.T) {
	b := newBench(t)
	for i := range 9000 {
		b.put(0, 1, func(v *job.Version) {
			v.Job.Job = job.Name(fmt.Sprintf("g/%s-%d", strings.Repeat("x", 40), i))
			v.Schedule.Cron, v.Paused = "1 12 * * *", true
		})
	}
	total := 0
	for range 5 {
		got := b.step(time.Minute, bus.MaxBatch)
		total += len(got)
		if len(got) > 6000 {
			t.Errorf("%d lines in one record", len(got))
		}
	}
	if total != 9000 {
		t.Errorf("%d lines", total)
	}
}

func TestAChangeOfSpreadKeepsBothVersionsFires(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		v.Schedule = job.Schedule{Cron: "* * * * *", Spread: job.Duration(time.Hour)}
		v.Misfire.Grace = job.Duration(3 * time.Hour)
	})
	b.put(2*time.Minute, 2, func(v *job.Version) {
		v.Schedule = job.Schedule{Cron: "* * * * *"}
		v.Misfire.Grace = job.Duration(3 * time.Hour)
	})
	b.put(3*time.Minute, 3, func(v *job.Version) { v.Deleted = true })
	b.want(b.step(2*time.Hour, bus.MaxBatch), "12:03:00 g/a@2 pending schedule", "12:01:00 g/a@1 pending schedule", "12:02:00 g/a@1 pending schedule")
}

func TestAFixedDelayGoesOnFromTheEndOfItsRun(t *testing.T) {
	b := newBench(t)
	until := noon.Add(10 * time.Minute)
	b.put(0, 1, func(v *job.Version) {
		v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Minute), Until: &until}
	})
	b.want(b.step(time.Second, bus.MaxBatch))
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.want(b.step(5*time.Minute, bus.MaxBatch))
	end := &bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: job.FireRunID("g/a", noon.Add(time.Minute).UnixMilli(), job.CauseSchedule)}
	other := *end
	other.RunID = job.FireRunID("g/a", 1, job.CauseManual)
	b.m.Event(&other, 3, noon.Add(5*time.Minute).UnixMilli())
	b.m.Event(end, 4, noon.Add(6*time.Minute).UnixMilli())
	b.m.Event(end, 5, noon.Add(8*time.Minute).UnixMilli()) // again
	b.m.Event(end, 4, noon.Add(9*time.Minute).UnixMilli()) // and out of order
	b.want(b.step(6*time.Minute, bus.MaxBatch))
	if got := b.trig.cursor.EventSeq; got != 5 {
		t.Errorf("event position %d", got)
	}
	b.want(b.step(7*time.Minute, bus.MaxBatch), "12:07:00 g/a@1 pending schedule")
	// An end whose stamp lies before its run's fire, since the clocks differ.
	end.RunID = job.FireRunID("g/a", noon.Add(7*time.Minute).UnixMilli(), job.CauseSchedule)
	b.m.Event(end, 6, noon.Add(6*time.Minute).UnixMilli())
	b.want(b.step(8*time.Minute, bus.MaxBatch), "12:08:00 g/a@1 pending schedule")
	end.RunID = job.FireRunID("g/a", noon.Add(8*time.Minute).UnixMilli(), job.CauseSchedule)
	b.m.Event(end, 7, noon.Add(9*time.Minute+30*time.Second).UnixMilli())
	b.want(b.step(20*time.Minute, bus.MaxBatch)) // it has ended
}

func TestNextAtIsTheNextFireOrTheIdleCursor(t *testing.T) {
	b := newBench(t)
	next := func(want time.Duration) {
		t.Helper()
		if at, ok := b.m.NextAt(b.m.sweep.done); !ok || at != noon.Add(want).UnixMilli() {
			t.Errorf("next at %s, %v; want %s", instant(at), ok, noon.Add(want))
		}
	}
	next(30 * time.Second)
	b.put(0, 1, every(7*time.Second, job.FireOnce))
	next(7 * time.Second)
	b.step(7*time.Second, bus.MaxBatch)
	next(14 * time.Second)
	if b.m.Forget("g/a", 99); b.m.Jobs() != 0 {
		t.Error("the job is not forgotten")
	}
	next(37 * time.Second)
	b.m.Forget("g/a", 99) // again
	if got := b.step(37*time.Second, bus.MaxBatch); got == nil || len(got) != 0 {
		t.Errorf("idle cursor: %q", got)
	}
	b.put(time.Minute, 1, every(50*time.Second, job.FireOnce))
	next(67 * time.Second)
	if got := b.step(time.Second, bus.MaxBatch); got != nil {
		t.Errorf("the clock stepped back: %q", got)
	}
}

func TestTheCursorSaysAllThatASuccessorNeeds(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.put(0, 1, func(v *job.Version) {
			v.Job.Job, v.Schedule.FixedRate = job.Name(fmt.Sprintf("g/%d", i)), job.Duration(time.Minute)
		})
	}
	b.m.Events.Skip(17)
	b.step(time.Minute, overhead+1)
	data, err := json.Marshal(b.trig.cursor)
	if err != nil {
		t.Fatal(err)
	}
	first := b.m.sweep.after.name
	want := `{"shard":5,"epoch":7,"node":"n","commit":"7.1","done":"2026-03-02T12:00:00Z",` +
		`"sweep":{"to":"2026-03-02T12:01:00Z","after":"` + string(first) + `"},"jobs_seq":3,"event_seq":17}`
	if string(data) != want {
		t.Errorf("cursor %s\nwant   %s", data, want)
	}
}

func TestMisuseIsABug(t *testing.T) {
	panics := func(name string, f func(*bench)) {
		t.Helper()
		defer func() {
			t.Helper()
			if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "BUG: ") {
				t.Errorf("%s: %v", name, r)
			}
		}()
		b := newBench(t)
		b.m.Events.Skip(1)
		f(b)
	}
	panics("step twice", func(b *bench) {
		b.m.Claim(noon.UnixMilli())
		b.m.Step(noon.UnixMilli(), bus.MaxBatch)
	})
	panics("commit of nothing", func(b *bench) { b.m.Committed(1) })
}

func TestAMachineDecidesNothingMoreWhileTooManyItemsWaitToBeDeleted(t *testing.T) {
	b := newBench(t)
	for seq := range uint64(maxReleased) {
		b.trig.cursor.Released = append(b.trig.cursor.Released, 1000+seq)
	}
	b.succeed()
	b.put(0, 1, func(v *job.Version) { v.Schedule.Cron = "* * * * *" })
	if got := b.step(time.Minute, bus.MaxBatch); got != nil {
		t.Errorf("decided %q with %d items to delete", got, maxReleased)
	}
	if at, ok := b.m.NextAt(b.m.sweep.done); ok {
		t.Errorf("there is something to do at %d", at)
	}
	b.m.Deleted(map[uint64]bool{1000: true})
	if got := b.step(time.Minute, bus.MaxBatch); len(got) != 1 {
		t.Errorf("after a deletion it decided %q, want one fire", got)
	}
}

func TestAMachineKeepsAsManyPositionsAndCalendarsAsTheBucketsDo(t *testing.T) {
	b := newBench(t)
	for i := range 100 {
		at := noon.Add(time.Duration(i) * time.Second)
		b.m.Cluster.PutHold("", job.Pause{Paused: i%2 == 0, EffectiveFrom: at})
		if err := b.m.Cluster.PutCalendar(&job.CalendarVersion{Calendar: job.Calendar{Calendar: "c"}, Version: i + 1, EffectiveFrom: at}); err != nil {
			t.Fatal(err)
		}
	}
	if h, c := len(b.m.Cluster.pauses[""]), len(b.m.Cluster.calendars["c"]); h != bus.HoldHistory || c != bus.CalendarHistory {
		t.Errorf("%d positions of the switch and %d versions of the calendar are kept, want %d and %d", h, c, bus.HoldHistory, bus.CalendarHistory)
	}
	if last := b.m.Cluster.pauses[""][len(b.m.Cluster.pauses[""])-1].from; last != noon.Add(99*time.Second).UnixMilli() {
		t.Errorf("the newest position is of %d", last)
	}
}
