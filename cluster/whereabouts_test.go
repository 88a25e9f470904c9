package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

// packedTrigger is the trigger of the n-th run of a group whose ends may be in packs.
func packedTrigger(n int) *bus.Trigger {
	t := nightly()
	t.Cause = job.CauseManual
	t.RunID, t.CommittedAt, t.Report = job.RunID(fmt.Sprintf("019b8be1-f500-746c-9285-%012x", n)), began, bus.SubjectEnds(0, "billing")
	return t
}

// packOf is a pack with the ends of runs from first to last.
func packOf(tb testing.TB, conn *cluster.Conn, first, last int) *nats.Msg {
	tb.Helper()
	var ends []*nats.Msg
	for n := first; n <= last; n++ {
		e := bus.EventOf(packedTrigger(n), bus.EventFinished, began)
		e.Instance, e.Delivery, e.Status, e.FinishedAt = "worker-1", 1, job.StatusSucceeded, e.At
		m, err := bustest.Event(conn.Tokens(), e)
		if err != nil {
			tb.Fatal(err)
		}
		ends = append(ends, m)
	}
	return bustest.Pack(bus.SubjectEnds(0, "billing"), ends...)
}

func store(tb testing.TB, conn *cluster.Conn, m *nats.Msg) {
	tb.Helper()
	if _, err := conn.JS.PublishMsg(tb.Context(), m); err != nil {
		tb.Fatal(err)
	}
}

// search is a search for attempts in packs.
type search struct {
	packs  cluster.Packs
	from   uint64
	sought map[bus.AttemptRef]bool
	found  []job.RunID
}

// searchFor begins to search for runs in packs that were stored since an instant.
func searchFor(tb testing.TB, conn *cluster.Conn, since time.Time, runs ...int) *search {
	tb.Helper()
	s := &search{sought: map[bus.AttemptRef]bool{}}
	var triggers []*bus.Trigger
	for _, n := range runs {
		triggers = append(triggers, packedTrigger(n))
		s.sought[triggers[len(triggers)-1].Ref()] = true
	}
	ends, err := conn.Whereabouts().Ends(tb.Context(), triggers, since)
	if err != nil {
		tb.Fatal(err)
	}
	s.packs = cluster.Packs{Group: "billing", Known: ends.Known}
	if s.from, err = conn.Whereabouts().FirstPack(tb.Context(), s.packs, since); err != nil {
		tb.Fatal(err)
	}
	return s
}

// step searches until an instant, and reports whether all has been searched.
func (s *search) step(tb testing.TB, conn *cluster.Conn, until time.Time) (done bool) {
	tb.Helper()
	next, err := conn.Whereabouts().SearchPacks(tb.Context(), s.packs, s.from, until, s.sought, func(ref bus.AttemptRef) {
		s.found = append(s.found, ref.RunID)
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.from = next
	return next > s.packs.Known
}

// A search that is out of time goes on where it was, and ends when it has come to what was stored last.
func TestEndsInPacksAreSearchedStepByStep(t *testing.T) {
	inCluster(t, func(w *world) {
		store(w.t, w.conn, packOf(w.t, w.conn, 1, 5)) // too early
		time.Sleep(time.Hour)
		for n := 10; n < 50; n += 10 {
			store(w.t, w.conn, packOf(w.t, w.conn, n, n+5))
		}
		s := searchFor(w.t, w.conn, time.Now().Add(-time.Minute), 3, 11, 12, 44, 60)
		store(w.t, w.conn, packOf(w.t, w.conn, 60, 65)) // too late
		steps := 1
		for ; !s.step(w.t, w.conn, time.Now()); steps++ {
			if steps > 10 {
				w.t.Fatal("the search does not end")
			}
		}
		got := fmt.Sprint(s.found)
		if want := fmt.Sprint([]job.RunID{packedTrigger(11).RunID, packedTrigger(12).RunID, packedTrigger(44).RunID}); got != want || steps != 4 {
			w.t.Errorf("it has found %s in %d steps, want %s in 4", got, steps, want)
		}
	})
}

// Of a forged end, what it says is no reason to take an attempt for ended.
func TestAForgedEndInAPackIsNotFound(t *testing.T) {
	inCluster(t, func(w *world) {
		m := packOf(w.t, w.conn, 1, 3)
		at := strings.Index(string(m.Data), `"token":"`) + len(`"token":"`) + 9 // after the id of the key, of the first
		m.Data[at] ^= 1
		store(w.t, w.conn, m)
		s := searchFor(w.t, w.conn, began, 1, 2)
		if !s.step(w.t, w.conn, time.Time{}) || len(s.found) != 1 || s.found[0] != packedTrigger(2).RunID {
			w.t.Errorf("it has found %s", s.found)
		}
	})
}

// BenchmarkSearchPacks searches packs of 256 ends each for 500 attempts that have not ended, as after the
// death of an executor.
func BenchmarkSearchPacks(b *testing.B) {
	conn := clustertest.SetupPatient(b, bustest.NewBroker(b), "bench", shards)
	const packs = 200
	for n := range packs {
		store(b, conn, packOf(b, conn, n<<8, n<<8+bus.MaxEnds-1))
	}
	sought := make([]int, 500)
	for i := range sought {
		sought[i] = packs<<8 + i
	}
	s := searchFor(b, conn, began, sought...)
	for b.Loop() {
		again := *s
		if !again.step(b, conn, time.Time{}) || len(again.found) != 0 {
			b.Fatalf("it has found %s", again.found)
		}
	}
	b.ReportMetric(float64(b.N)*packs*bus.MaxEnds/b.Elapsed().Seconds(), "ends/s")
}
