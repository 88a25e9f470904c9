package stream

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// some returns lines of these seqs.
func some(seqs ...int64) []runlog.Line {
	lines := make([]runlog.Line, len(seqs))
	for i, seq := range seqs {
		lines[i].Seq = seq
	}
	return lines
}

func seqs(lines []runlog.Line) string {
	var text []string
	for _, l := range lines {
		text = append(text, itoa(l.Seq))
	}
	return strings.Join(text, " ")
}

func ended(at time.Time, lines int) *runlog.Run {
	return &runlog.Run{Attempt: 1, Status: job.StatusSucceeded, FinishedAt: at, LogLines: lines}
}

func TestLinesAreSentOnceAndInOrder(t *testing.T) {
	f := followed{attempt: 1}
	step := func(got []runlog.Line, expected string, gap bool) {
		t.Helper()
		if seqs(got) != expected || f.gap() != gap {
			t.Errorf("got %q gap %v, want %q gap %v", seqs(got), f.gap(), expected, gap)
		}
	}
	step(f.live(some(1, 2)), "1 2", false)
	step(f.live(some(2, 3)), "3", false)
	step(f.live(some(6, 7)), "", true)
	step(f.live(some(9)), "", true)
	step(f.stored(some(4)), "4", true)
	step(f.stored(some(4, 5)), "5 6 7", true)
	step(f.stored(some(9, 10)), "9 10", false) // 8 is lost: the store has what came after
	if f.lost != 1 {
		t.Errorf("%d lost, want 1", f.lost)
	}
}

func TestLinesOfALaterDeliveryFollowThoseOfTheOneThatWentSilent(t *testing.T) {
	f := followed{attempt: 1}
	second := bus.LogBase(2)
	if got := seqs(f.live(some(1, 2))); got != "1 2" {
		t.Errorf("first delivery: got %q", got)
	}
	if got, want := seqs(f.live(some(second+1))), itoa(second+1); got != want || f.gap() {
		t.Errorf("second delivery: got %q gap %v, want %q and none", got, f.gap(), want)
	}
	end := ended(noon, 2)
	end.Delivery = 2
	f.ended(end)
	if !f.gap() {
		t.Error("no gap though the second delivery's last line is missing")
	}
	f.live(some(second + 2))
	if !f.done(noon) || f.lost != 0 {
		t.Errorf("done %v with %d lost, want true with none", f.done(noon), f.lost)
	}
}

func TestATailWaitsForTheLastLinesButNotForEver(t *testing.T) {
	f := followed{attempt: 1}
	f.ended(ended(noon, 3))
	f.ended(ended(noon.Add(time.Hour), 9)) // too late
	if f.live(some(1)); f.done(noon) {
		t.Error("done before its last lines")
	}
	if !f.done(noon.Add(settle + time.Millisecond)) {
		t.Error("not done when the time for them is over")
	}
	if got := seqs(f.rest()); got != "" || f.lost != 2 {
		t.Errorf("rest %q, %d lost", got, f.lost)
	}

	g := followed{attempt: 1}
	g.ended(&runlog.Run{Attempt: 2, Status: job.StatusFailed})
	g.ended(&runlog.Run{Attempt: 1, Status: job.StatusRunning})
	if g.end != nil {
		t.Error("ended by another attempt or while running")
	}
	g.ended(ended(noon, 4))
	g.live(some(2, 4))
	if got := seqs(g.rest()); got != "2 4" || g.lost != 2 {
		t.Errorf("rest %q, %d lost", got, g.lost)
	}
}

func TestATailWaitsForLinesThatFollowTheEnd(t *testing.T) {
	f := followed{attempt: 1}
	f.ended(ended(noon, 1))
	f.expectLate(noon)
	f.live(some(1))
	if f.done(noon.Add(lateWait - 1)) {
		t.Error("done while lines may come")
	}
	if f.expectLate(noon.Add(30 * time.Second)); f.done(noon.Add(lateWait)) {
		t.Error("done though a line has come meanwhile")
	}
	if !f.done(noon.Add(30*time.Second + lateWait)) {
		t.Error("not done though no line has come for long")
	}

	f.endLate(noon.Add(time.Minute))
	f.expectLate(noon.Add(time.Minute)) // who reads them said so before the end was heard
	if !f.done(noon.Add(time.Minute)) {
		t.Error("not done after the last line")
	}
	if f.live(some(3)); f.done(noon.Add(time.Minute + settle)) {
		t.Error("done before the store could have a line that was not heard")
	}
}

func TestATailDoesNotFollowForEverAnExecutorThatGoesOnPrinting(t *testing.T) {
	f := followed{attempt: 1}
	f.ended(ended(noon, 1))
	at := noon
	for ; !f.done(at) && at.Before(noon.Add(time.Hour)); at = at.Add(time.Second) {
		f.expectLate(at)
	}
	if waited := at.Sub(noon); waited < lateMost || waited > lateMost+settle+time.Second {
		t.Errorf("it waited for %s", waited)
	}
}

// Whatever arrives in whatever order from bus and store, each line comes out once.
func TestAnyMixOfBusAndStoreGivesEachLineOnce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := followed{attempt: 1}
		const total = 40
		inStore, heard := int64(0), int64(0)
		var out []runlog.Line
		for f.sent < total {
			switch r.IntN(4) {
			case 0: // ingest goes on
				inStore = min(total, inStore+int64(r.IntN(5)))
			case 1: // the tail looks into the store
				var page []runlog.Line
				for s := f.sent + 1; s <= inStore && len(page) < 7; s++ {
					page = append(page, some(s)...)
				}
				out = append(out, f.stored(page)...)
			default: // a message comes, or is dropped, or comes twice
				var l []runlog.Line
				for n := r.IntN(4); n > 0 && heard < total; n-- {
					heard++
					l = append(l, some(heard)...)
				}
				if r.IntN(3) > 0 {
					out = append(out, f.live(l)...)
					out = append(out, f.live(l)...)
				}
			}
		}
		for i, l := range out {
			if l.Seq != int64(i+1) {
				t.Fatalf("seed %d: %s", seed, seqs(out))
			}
		}
		if len(out) != total || f.lost != 0 {
			t.Fatalf("seed %d: %d lines, %d lost", seed, len(out), f.lost)
		}
	}
}
