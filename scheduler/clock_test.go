package scheduler_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler"
)

// skew has the clocks of nodes be wrong from now on.
func (w *world) skew(by time.Duration, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.skews == nil {
		w.skews = map[string]time.Duration{}
	}
	for _, n := range names {
		w.skews[n] = by
	}
}

// readsClockToClaim reports whether the caller, which says by how much the clock is wrong, is asked by
// the claim of a shard.
func readsClockToClaim() bool {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.HasSuffix(f.Function, "(*clock).wallOf") {
			f, _ = frames.Next()
			return strings.HasSuffix(f.Function, "(*takeover).claim")
		}
	}
	return false
}

// info returns what a node says of itself in its lease.
func (w *world) info(name string) scheduler.NodeInfo {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketLease)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := kv.Get(w.t.Context(), "node."+name)
	if err != nil {
		w.t.Fatal(err)
	}
	var l jet.LeaseRecord
	var info scheduler.NodeInfo
	if err := json.Unmarshal(e.Value(), &l); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(l.Info, &info); err != nil {
		w.t.Fatal(err)
	}
	return info
}

// wantInTime checks that every fire of secondly jobs was decided once, as one in time, not
// before it was due and at most so much later.
func (w *world) wantInTime(jobs []job.Name, within time.Duration) {
	w.t.Helper()
	for n, all := range w.wantEachOnce(second(1), jobs...) {
		for _, f := range all {
			if late := f.at.Sub(f.FireTime); late < 0 || late > within || f.Status != job.StatusPending || f.Cause != job.CauseSchedule {
				w.t.Fatalf("%s at %s was decided %s later, by %s: %s %s", n, f.FireTime.Format(time.TimeOnly), late, f.node, f.Status, f.Reason)
			}
		}
	}
}

func TestANodeWhoseClockStepsDecidesNothingByItAndGivesUpItsShards(t *testing.T) {
	for _, by := range []time.Duration{90 * time.Second, -90 * time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			run(t, func(w *world) {
				jobs := names(16)
				for _, n := range jobs {
					w.put(n, secondly)
				}
				for _, n := range []string{"a", "b", "c"} {
					w.startNode(n)
				}
				time.Sleep(10500 * time.Millisecond)
				w.skew(by, "a")
				time.Sleep(20 * time.Second)
				if n := w.nodes["a"].Owned(); n != 0 {
					t.Errorf("the node owns %d shards", n)
				}
				if n := w.nodes["b"].Owned() + w.nodes["c"].Owned(); n != 8 {
					t.Errorf("the others own %d shards, want all 8", n)
				}
				if i := w.info("a"); i.Yields == "" || i.ClockOffset != by.Seconds() {
					t.Errorf("the node says of itself %+v", i)
				}
				w.skew(0, "a")
				time.Sleep(10 * time.Second)
				if n := w.nodes["a"].Owned(); n == 0 {
					t.Error("the node owns no shards though its clock is right again")
				}
				w.wantInTime(jobs, 10*time.Second)
			})
		})
	}
}

func TestANodeThatStartsWithAWrongClockOwnsNothing(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/a", secondly)
		w.skew(time.Hour, "a")
		w.startNode("a")
		time.Sleep(time.Minute)
		w.wantDecided()
		if i := w.info("a"); i.Yields == "" {
			t.Errorf("the node says of itself %+v", i)
		}
	})
}

// A clock is a day ahead when a shard is claimed, and is set back before the claim is stored.
func TestAClockThatIsSetBackDuringATakeoverDelaysNothing(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/a", secondly)
		w.claimSkew = 24 * time.Hour
		w.startNode("a")
		time.Sleep(time.Minute)
		if fires := w.fires("g/a", time.Second); len(fires) < 30 {
			t.Errorf("%d fires within a minute", len(fires))
		}
	})
}

func TestNodesThatAgreeGoOnThoughTheClockOfNATSIsWrong(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		for _, n := range []string{"a", "b", "c"} {
			w.startNode(n)
		}
		time.Sleep(10500 * time.Millisecond)
		// To the nodes it looks as if NATS were behind by a minute.
		w.skew(time.Minute, "a", "b", "c")
		time.Sleep(20 * time.Second)
		for _, n := range []string{"a", "b", "c"} {
			if got := w.nodes[n].Owned(); got == 0 {
				t.Errorf("node %s owns no shards", n)
			}
		}
		if got := w.metric("a", "carillon_nats_clock_wrong"); got != 1 {
			t.Errorf("that NATS is wrong is shown as %v", got)
		}
	})
}

func TestAShardWhosePositionIsAheadOfTheClockStandsAndSaysSo(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		cursor := &journal.Cursor{Done: start.Add(10 * time.Minute), Node: "gone"}
		m, err := cursor.Msg()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.conn.PublishBatch(w.t.Context(), []*nats.Msg{m}); err != nil {
			t.Fatal(err)
		}
		w.put("g/a", cron("*/5 * * * *"), func(j *job.Job) { j.Misfire.Policy = job.FireAll })
		w.startNode("a")
		time.Sleep(9 * time.Minute)
		w.wantDecided()
		w.wantParked("a", "behind the position of the shard, which comes from a clock that was wrong; its jobs fire again from "+start.Add(10*time.Minute).Format("2006-01-02T15:04"), 0)
		time.Sleep(2 * time.Minute)
		w.wantParked("a", "")
		w.wantDecided("g/a 00:05:00 pending misfire", "g/a 00:10:00 pending misfire")
		for _, why := range w.reasons("g/a") {
			if !strings.Contains(why, "its shard waited for the clock, which had been ahead") {
				t.Error(why)
			}
		}
	})
}

// reasons returns why the job's fires were decided as they were, as "15:04:05 status: reason".
func (w *world) reasons(name job.Name) []string {
	w.t.Helper()
	var all []string
	w.records(func(_ *journal.Record, d journal.Decided) {
		if d.Job == name {
			all = append(all, d.FireTime.Format("15:04:05")+" "+string(d.Status)+": "+d.Reason)
		}
	})
	slices.Sort(all)
	return all
}

func TestWhatIsDecidedLateBecauseOfAWrongClockSaysSo(t *testing.T) {
	for _, c := range []struct {
		by   time.Duration
		said string
	}{{time.Hour, "1h ahead of"}, {-90 * time.Second, "1m30s behind"}} {
		t.Run(c.by.String(), func(t *testing.T) {
			run(t, func(w *world) {
				w.put("g/skip", cron("* * * * *"), func(j *job.Job) { j.Misfire.Policy = job.MisfireSkip })
				w.put("g/once", cron("* * * * *"))
				w.startNode("a")
				time.Sleep(time.Minute) // 00:01:30
				w.skew(c.by, "a")
				time.Sleep(3 * time.Minute)
				w.skew(0, "a")
				time.Sleep(time.Minute) // 00:05:30
				why := "; the clock of node a was " + c.said + " NATS' clock"
				if d := cmp.Diff([]string{
					"00:01:00 pending: ",
					"00:02:00 missed: noticed too late" + why + "; the misfire policy is skip", // with those of 00:03 and 00:04
					"00:05:00 pending: ",
				}, w.reasons("g/skip")); d != "" {
					t.Error(d)
				}
				if got := w.reasons("g/once"); len(got) != 4 || !strings.HasPrefix(got[2], "00:04:00 pending: noticed 3") || !strings.HasSuffix(got[2], why+"; it stands for 3 misfires") {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

func TestWhatIsDecidedByAnotherNodeBecauseOfAWrongClockSaysSo(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		for _, n := range []string{"a", "b", "c"} {
			w.startNode(n)
		}
		time.Sleep(10500 * time.Millisecond)
		w.skew(90*time.Second, "a")
		time.Sleep(20 * time.Second)
		explained := 0
		for n, all := range w.firesOf(time.Second, jobs...) {
			for _, f := range all {
				late := f.at.Sub(f.FireTime)
				want := ""
				if late >= time.Second && f.FireTime.After(start.Add(10*time.Second)) {
					want = "decided " + job.Duration(late).String() + " late; the clock of node a was 1m30s ahead of NATS' clock"
					explained++
				}
				if f.Reason != want {
					t.Errorf("%s at %s, decided %s late by %s: %q", n, f.FireTime.Format(time.TimeOnly), late, f.node, f.Reason)
				}
			}
		}
		if explained == 0 {
			t.Error("nothing was late")
		}
	})
}

// metric returns what a gauge or a counter of a node shows.
func (w *world) metric(node, name string) float64 {
	w.t.Helper()
	families, err := w.nodes[node].metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			m := f.GetMetric()[0]
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	w.t.Fatalf("there is no metric %s", name)
	return 0
}
