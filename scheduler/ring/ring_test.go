package ring

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	bucketMillis = nearCount * tickMillis
	epochMillis  = farCount * bucketMillis
)

// start is an instant that is not on any boundary.
var start = time.Date(2026, 3, 1, 10, 0, 0, 123e6, time.UTC).UnixMilli()

func wantDue(t *testing.T, r *Ring, now int64, want ...Entry) {
	t.Helper()
	if diff := cmp.Diff(want, r.Due(now, nil)); diff != "" {
		t.Errorf("Due(start%+d) (-want +got):\n%s", now-start, diff)
	}
	check(t, r)
}

func wantNext(t *testing.T, r *Ring, want int64) {
	t.Helper()
	if at, ok := r.NextAt(); !ok || at != want {
		t.Errorf("NextAt() = start%+d, %t, want start%+d", at-start, ok, want-start)
	}
	check(t, r)
}

func wantIdle(t *testing.T, r *Ring) {
	t.Helper()
	if at, ok := r.NextAt(); ok || r.Len() != 0 {
		t.Errorf("NextAt() = %d, %t with %d armed, want an idle ring", at, ok, r.Len())
	}
	check(t, r)
}

func TestAnIDIsDueAtItsMillisecondAndNotBefore(t *testing.T) {
	f := func(at int64) {
		r := New(start)
		r.Set(7, at)
		wantNext(t, r, at)
		wantDue(t, r, at-1)
		wantDue(t, r, at, Entry{7, at})
		wantDue(t, r, at)
		wantIdle(t, r)
	}
	tick := start - start%tickMillis
	bucket := start - start%bucketMillis
	epoch := start - start%epochMillis
	for _, edge := range []int64{
		tick, tick + tickMillis, tick + 5*tickMillis,
		bucket + bucketMillis, bucket + 2*bucketMillis,
		epoch + epochMillis, epoch + 2*epochMillis,
		time.Date(2225, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
		latest - 1,
	} {
		f(edge - 1)
		f(edge)
		f(edge + 1)
	}
}

func TestIDsComeInTheOrderOfTheirInstants(t *testing.T) {
	r := New(start)
	r.Set(1, start+epochMillis*3)
	r.Set(2, start+9)
	r.Set(3, start+bucketMillis*5)
	r.Set(4, start+8)
	r.Set(5, start+500)
	r.Set(6, start+epochMillis*4)
	wantDue(t, r, start+epochMillis*9,
		Entry{4, start + 8}, Entry{2, start + 9}, Entry{5, start + 500}, Entry{3, start + bucketMillis*5},
		Entry{1, start + epochMillis*3}, Entry{6, start + epochMillis*4})
}

func TestDueAppendsToWhatItIsGiven(t *testing.T) {
	r := New(start)
	r.Set(1, start)
	before := Entry{9, start + 5}
	want := []Entry{before, {1, start}}
	if diff := cmp.Diff(want, r.Due(start, []Entry{before})); diff != "" {
		t.Errorf("Due (-want +got):\n%s", diff)
	}
}

func TestAnInstantInThePastIsDueAtOnce(t *testing.T) {
	r := New(start)
	for id, at := range []int64{math.MinInt64, -1, 0, start - epochMillis, start - 1} {
		r.Set(uint32(id), at)
	}
	wantNext(t, r, math.MinInt64)
	wantDue(t, r, start, Entry{0, math.MinInt64}, Entry{1, -1}, Entry{2, 0},
		Entry{3, start - epochMillis}, Entry{4, start - 1})
	wantIdle(t, r)
}

func TestInstantsBefore1970AreKeptApart(t *testing.T) {
	r := New(-50)
	r.Set(1, -20)
	r.Set(2, -10)
	wantDue(t, r, -21)
	wantDue(t, r, -20, Entry{1, -20})
	wantNext(t, r, -10)
	wantDue(t, r, -10, Entry{2, -10})
}

func TestTheLatestInstantsAreClamped(t *testing.T) {
	r := New(start)
	r.Set(1, math.MaxInt64)
	wantNext(t, r, latest)
	wantDue(t, r, math.MaxInt64, Entry{1, latest})
	r.Set(1, start)
	wantDue(t, r, math.MaxInt64, Entry{1, start})
	r.Set(1, start)
	wantDue(t, r, start, Entry{1, start})
}

func TestACancelledIDIsNotDue(t *testing.T) {
	r := New(start)
	r.Set(1, start+5)
	r.Set(2, start+6)
	r.Cancel(1)
	r.Cancel(1)
	r.Cancel(1e6)
	if at, ok := r.At(1); ok {
		t.Errorf("At(1) = %d after Cancel, want not armed", at)
	}
	if _, ok := r.At(1e6); ok {
		t.Error("At of an id never armed is ok, want not armed")
	}
	wantNext(t, r, start+6)
	wantDue(t, r, start+10, Entry{2, start + 6})
	wantIdle(t, r)
}

func TestSetReplacesTheEarlierInstant(t *testing.T) {
	r := New(start)
	for _, at := range []int64{start + 50, start + epochMillis, start + 50, start + bucketMillis, start + 20, start + 50} {
		r.Set(1, at)
		wantNext(t, r, at)
		if r.Len() != 1 {
			t.Fatalf("Len() = %d, want 1", r.Len())
		}
	}
	wantDue(t, r, start+49)
	wantDue(t, r, start+epochMillis*2, Entry{1, start + 50})
}

func TestAClockThatStepsBackFiresWhatIsArmedByItsNewTime(t *testing.T) {
	r := New(start)
	r.Set(1, start+epochMillis)
	r.Set(2, start)
	wantDue(t, r, start, Entry{2, start})

	back := start - 3_600_000
	wantDue(t, r, back)
	r.Set(2, back+1000)
	r.Set(3, back+2000)
	wantDue(t, r, back+999)
	wantDue(t, r, back+1000, Entry{2, back + 1000})
	wantNext(t, r, back+2000)
	wantDue(t, r, back+2000, Entry{3, back + 2000})
	wantDue(t, r, start+epochMillis, Entry{1, start + epochMillis})
}

func TestDebouncingDoesNotGrowTheRing(t *testing.T) {
	r := New(start)
	r.Set(1, start)
	for i := range int64(1_000_000) {
		r.Set(1, start+i*bucketMillis%epochMillis)
	}
	check(t, r)
	if n := len(r.hints.blocks); n > 3*listCount {
		t.Errorf("one id armed a million times left %d blocks", n)
	}
}

func TestStaleHintsAreNotPassedOn(t *testing.T) {
	r := New(start)
	r.Set(1, start+2*bucketMillis)
	r.Set(1, start+5*bucketMillis)
	r.Set(2, start+2*bucketMillis)
	wantDue(t, r, start+2*bucketMillis, Entry{2, start + 2*bucketMillis})
	if r.hints.count != 1 {
		t.Errorf("%d hints for one armed id, want 1", r.hints.count)
	}
}

func TestASteadyRingAllocatesNothing(t *testing.T) {
	const ids = 10_000
	r := New(start)
	for id := range uint32(ids) {
		r.Set(id, start+int64(id)*7)
	}
	var due []Entry
	now := start
	turn := func() {
		for range ids {
			now, _ = r.NextAt()
			due = r.Due(now, due[:0])
			for _, e := range due {
				r.Set(e.ID, e.At+ids*7)
				r.Set(e.ID, e.At+ids*7+1_000)
				r.Set(e.ID, e.At+ids*7)
			}
		}
	}
	for range 20 {
		turn()
	}
	if n := testing.AllocsPerRun(5, turn); n != 0 {
		t.Errorf("%v allocations in a turn of %d fires, want 0", n, ids)
	}
}
