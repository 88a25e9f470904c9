package sqlite

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Many pairs are put in order in another way than few, which is the same to whoever reads.
func TestASummaryIsTheSameForManyPairsAsForFew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s spread
	for range 5000 {
		s = s.add(random.Int64N(1000))
	}
	many, few := s.summary(), s.compact().summary()
	if many != few {
		t.Errorf("of 5000 pairs it is %+v, of the same put together %+v", many, few)
	}
	near := func(got, want time.Duration) bool { return got > want*95/100 && got < want*105/100 }
	if many.Count != 5000 || !near(many.P50, 500*time.Millisecond) || !near(many.P95, 950*time.Millisecond) {
		t.Errorf("of 5000 instants below a second: %+v", many)
	}
}
