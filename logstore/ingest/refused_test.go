package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestGarbageIsCountedAndLeftOut(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		good := fire{report, 0}
		shardSubject := bus.SubjectEvent(report.Shard(shards), "billing")
		garbage := func(subject, kind, data string) { w.publish(bus.NewMessage(subject, kind, []byte(data)), nil) }
		garbage(shardSubject, bus.MessageEvent, "{")
		garbage(shardSubject, bus.MessageEvent, `{"kind":"finished"}`)
		garbage(shardSubject, "event.v9", `{}`)
		garbage(bus.SubjectRecord(1), bus.MessageRecord, "\x00\xff")
		garbage(bus.SubjectRecord(1), bus.MessageRecord, `{"outcomes":[{"status":"pending","cause":"schedule","fire_time":"2026-01-05T03:00:00Z","jobs":["billing/report"]}]}`)
		garbage(bus.SubjectLog("billing", good.id()), bus.MessageLog, `{"run_id":7}`)
		lines := good.log("one", "two", "three")
		lines.Lines[2].Seq = -3
		w.record(good)
		w.finish(good)
		w.print(lines)
		w.publish(&nats.Msg{Subject: shardSubject, Data: []byte("no header")}, nil)
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantRows(1)
		w.wantUnacknowledged(0, 0, 0)
		for _, c := range []struct {
			stream string
			want   float64
		}{{bus.StreamEvt, 4}, {bus.StreamTrig, 2}, {bus.StreamLog, 2}} {
			if got := in.counter("carillon_ingest_refused_total", "stream", c.stream); got != c.want {
				t.Errorf("%v messages of %s are counted as refused; want %v", got, c.stream, c.want)
			}
		}
		if got := in.counter("carillon_ingest_refused_total", "reason", bus.HeaderMessage); got != 2 {
			t.Errorf("%v messages are counted for an unknown version, or none; want 2", got)
		}
	})
}

func TestWhatIsRefusedIsKeptWithItsReason(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		subject := bus.SubjectEvent(report.Shard(shards), "billing")
		w.publish(bus.NewMessage(subject, bus.MessageEvent, []byte("{")), nil)
		w.publish(bus.NewMessage(bus.SubjectRecord(1), bus.MessageRecord, []byte(strings.Repeat("x", 1<<20-200))), nil)
		w.whole(fire{report, 0})
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		var got []string
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(s *jet.Stored) bool {
			got = append(got, fmt.Sprintf("%s: %s of %s bytes, has %d", s.Subject, s.Header.Get(cluster.HeaderDeadSubject), s.Header.Get(cluster.HeaderDeadSize), len(s.Data)))
			if s.Header.Get(cluster.HeaderDeadReason) == "" {
				t.Errorf("%s has no reason", s.Subject)
			}
			return true
		})
		slices.Sort(got)
		want := []string{"dead.EVT: " + subject + " of 1 bytes, has 1", "dead.TRIG: rec.1 of 1048376 bytes, has 524288"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("dead letters differ, with %v (-want +got):\n%s", err, diff)
		}
	})
}

// A newer executor may use words that this program does not know: they are kept for
// later, and keep nothing else from the store.
func TestWordsOfANewerExecutorAreKeptAsideWithTheFieldThatHasThem(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		good := fire{report, 0}
		w.record(good)
		for _, change := range []func(*bus.Event){
			func(e *bus.Event) { e.Kind = "suspended" },
			func(e *bus.Event) { e.Kind, e.Cause = bus.EventStarted, "webhook" },
		} {
			e := good.finished(job.StatusSucceeded)
			change(e)
			m, err := bustest.Event(w.conn.Tokens(), e)
			m.Header.Del(nats.MsgIdHdr) // they are different
			w.publish(m, err)
		}
		w.finish(good)
		w.print(good.log("one", "two"))
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantUnacknowledged(0, 0, 0)
		for _, field := range []string{"kind", "cause"} {
			if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamEvt, "reason", field); got != 1 {
				t.Errorf("%v events are counted as refused for their %s; want 1", got, field)
			}
		}
		kept := 0
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(*jet.Stored) bool { kept++; return true })
		if err != nil || kept != 2 {
			t.Errorf("%d messages are kept aside, with %v; want 2", kept, err)
		}
	})
}

// An end is one, though the executor that says so gets the rest wrong.
func TestAnEndThatIsNotValidEndsItsRun(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		for n, change := range [][2]string{{`"succeeded"`, `"ok"`}, {`"result":7`, `"result":NaN`}, {`"finished_at":"`, `"finished_at":"at `}, {`"result":7`, `"exit_code":"3"`}} {
			f := fire{report, n}
			w.record(f)
			e := f.finished(job.StatusSucceeded)
			e.Result = []byte("7")
			m, err := bustest.Event(w.conn.Tokens(), e)
			if err != nil {
				t.Fatal(err)
			}
			data := strings.Replace(string(m.Data), change[0], change[1], 1)
			if data == string(m.Data) {
				t.Fatalf("%s has no %s", data, change[0])
			}
			m.Data = []byte(data)
			w.publish(m, nil)
		}
		time.Sleep(5 * time.Minute)
		for n := range 4 {
			runs, err := w.store.Run(w.t.Context(), fire{report, n}.id())
			if err != nil || runs[0].Status != job.StatusFailed || !strings.Contains(string(runs[0].Message), "not valid") || runs[0].Instance != "worker-1" {
				t.Errorf("run %d is %+v, with %v", n, runs, err)
			}
		}
	})
}

// One line that cannot be kept costs none of the others in its message, which is kept aside.
func TestABadLineCostsNoneOfTheOthers(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		f := fire{report, 0}
		l := f.log("one", "two", "three", "four", "five")
		l.Lines[2].Seq, l.Lines[3].At = 0, time.Time{}
		m, err := bustest.Log(w.conn.Tokens(), l)
		if err != nil {
			t.Fatal(err)
		}
		m.Data = []byte(strings.Replace(string(m.Data), `"text":"five"`, `"text":5`, 1))
		w.publish(m, nil)
		time.Sleep(3 * time.Second)
		lines, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: f.id(), Attempt: 1})
		if err != nil || len(lines) != 2 || lines[0].Text != "one" || lines[1].Text != "two" {
			t.Errorf("the lines are %+v, with %v", lines, err)
		}
		if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamLog); got != 3 {
			t.Errorf("%v lines are counted as refused; want 3", got)
		}
		var reasons []string
		err = w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(m *jet.Stored) bool {
			reasons = append(reasons, m.Header.Get(cluster.HeaderDeadReason))
			return true
		})
		if err != nil || len(reasons) != 1 || !strings.Contains(reasons[0], "not understood") {
			t.Errorf("kept aside: %q, with %v", reasons, err)
		}
	})
}

func TestAGroupCannotSpeakForAnother(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		victim := fire{report, 0}
		w.record(victim)
		forged := victim.finished(job.StatusSucceeded)
		m, err := bustest.Event(w.conn.Tokens(), forged) // though it had the token
		if err != nil {
			t.Fatal(err)
		}
		w.publish(bustest.Pack(bus.SubjectEnds(0, "intruder"), m), nil)
		m.Subject = bus.SubjectEvent(report.Shard(shards), "intruder") // the only group it may write as
		w.publish(m, nil)
		m, err = bustest.Log(w.conn.Tokens(), victim.log("all is well"))
		if err != nil {
			t.Fatal(err)
		}
		m.Subject = bus.SubjectLog("intruder", victim.id())
		w.publish(m, nil)
		time.Sleep(3 * time.Second)

		runs, err := w.store.Run(w.t.Context(), victim.id())
		if err != nil || runs[0].Status != job.StatusPending {
			t.Errorf("the run is %+v, with %v; want it pending", runs, err)
		}
		if got := in.counter("carillon_ingest_refused_total", "reason", "job"); got != 3 {
			t.Errorf("%v messages are counted as forged; want 3", got)
		}
		w.wantUnacknowledged(0, 0, 0)
	})
}

// Whoever may speak about jobs of its own group gets nothing by naming another's run: the
// message is kept aside, and the run stays as it is.
func TestAnEventAboutAnotherJobsRunIsKeptAside(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		victim := fire{report, 0}
		w.whole(victim)
		time.Sleep(time.Minute)
		const intruder job.Name = "other/hello"
		forged := victim.finished(job.StatusFailed)
		forged.Job, forged.Shard, forged.Cause, forged.Instance, forged.Message = intruder, intruder.Shard(shards), job.CauseManual, "evil", "forged"
		w.say(forged)
		forged.Attempt = 2
		w.say(forged)
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantRows(1)
		if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamEvt, "reason", "run_id"); got != 2 {
			t.Errorf("%v events are counted as refused for their run_id; want 2", got)
		}
		kept := 0
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(*jet.Stored) bool { kept++; return true })
		if err != nil || kept != 2 {
			t.Errorf("%d messages are kept aside, with %v; want 2", kept, err)
		}
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestOfRubbishOnlyTheFirstOfABatchIsKept(t *testing.T) {
	run(t, func(w *world) {
		for range 300 {
			w.publish(bus.NewMessage(bus.SubjectRecord(1), bus.MessageRecord, []byte("{")), nil)
		}
		in := w.start("a")
		time.Sleep(10 * time.Second)
		if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamTrig); got != 300 {
			t.Errorf("%v records are counted as refused; want 300", got)
		}
		if n, err := w.conn.DeadLetters().Count(w.t.Context()); n != 100 || err != nil {
			t.Errorf("%d dead letters, %v; want 100", n, err)
		}
	})
}

// Packs that are full of forged ends cost the others nothing: of these, as of all that is refused, the first
// of a batch are kept.
func TestAFloodOfForgedPacksKeepsNoEndAway(t *testing.T) {
	run(t, func(w *world) {
		subject := bus.SubjectEnds(0, "billing")
		end := func(f fire) *nats.Msg {
			m, err := bustest.Event(w.conn.Tokens(), f.finished(job.StatusSucceeded))
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		forged := slices.Repeat([]*nats.Msg{end(fire{report, 100})}, bus.MaxEnds)
		forged[0].Header.Set(bus.HeaderToken, end(fire{report, 101}).Header.Get(bus.HeaderToken))
		for i := range 20 {
			f := fire{report, i}
			w.record(f)
			w.publish(bustest.Pack(subject, forged...), nil)
			w.publish(bustest.Pack(subject, end(f)), nil)
		}
		in := w.start("a")
		time.Sleep(10 * time.Second)
		w.wantEnded(20)
		if got := in.counter("carillon_ingest_refused_total", "reason", bus.HeaderToken); got != 20*bus.MaxEnds {
			t.Errorf("%v ends are counted as forged; want %d", got, 20*bus.MaxEnds)
		}
		if n, err := w.conn.DeadLetters().Count(w.t.Context()); n != 100 || err != nil {
			t.Errorf("%d dead letters, %v; want 100", n, err)
		}
		w.wantUnacknowledged(0, 0, 0)
	})
}

// Each end in a pack stands for itself: one that is forged is kept as a letter of its own, which can be
// replayed, and the others are stored.
func TestAPackIsTakenApart(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		var ends []*nats.Msg
		for i := range 5 {
			f := fire{report, i}
			w.record(f)
			w.print(f.log("one"))
			m, err := bustest.Event(w.conn.Tokens(), f.finished(job.StatusSucceeded))
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, m)
		}
		secret := ends[1].Header.Get(bus.HeaderToken)
		ends[1].Header.Set(bus.HeaderToken, ends[2].Header.Get(bus.HeaderToken)) // of another run
		ends[3].Data = ends[3].Data[:len(ends[3].Data)-9]
		subject := bus.SubjectEnds(0, "billing")
		w.publish(bustest.Pack(subject, ends...), nil)
		w.publish(bus.NewMessage(subject, bus.MessageEnds, []byte(`{"instance":"x","ends":9}`)), nil)
		time.Sleep(3 * time.Second)
		w.wantEnded(3)

		letters, err := w.conn.DeadLetters().Page(w.t.Context(), 0, 10)
		if err != nil || len(letters) != 3 {
			t.Fatalf("%d letters, %v", len(letters), err)
		}
		forged := letters[2]
		if own := bus.SubjectEvent(report.Shard(shards), "billing"); forged.Subject != own || forged.Message != bus.MessageEvent || strings.Contains(string(forged.Data), secret) {
			t.Errorf("the forged end is a letter of %s on %s: %s", forged.Message, forged.Subject, forged.Data)
		}
		if whole := letters[0]; whole.Subject != subject || whole.Message != bus.MessageEnds {
			t.Errorf("a pack that is none is a letter of %s on %s", whole.Message, whole.Subject)
		}
		if err := w.conn.DeadLetters().Replay(w.t.Context(), &forged); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		w.wantEnded(4)
	})
}

// wantEnded checks how many runs the store has as succeeded.
func (w *world) wantEnded(want int) {
	w.t.Helper()
	counts, err := w.store.Counts(w.t.Context(), logstore.RunFilter{})
	if err != nil || counts[job.StatusSucceeded] != want {
		w.t.Errorf("%d runs have succeeded, %v; want %d", counts[job.StatusSucceeded], err, want)
	}
}
