package recent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus/recent"
)

func TestASetForgetsTheOldestAndWhatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := recent.New[int](time.Minute, 3)
		want := func(has ...int) {
			t.Helper()
			for k := range 6 {
				should := false
				for _, h := range has {
					should = should || h == k
				}
				if s.Has(k) != should {
					t.Errorf("it has %d: %v", k, !should)
				}
			}
		}
		want()
		s.Add(1)
		time.Sleep(30 * time.Second)
		s.Add(2)
		s.Add(3)
		want(1, 2, 3)
		s.Add(4)
		want(2, 3, 4)
		time.Sleep(time.Minute)
		want()
		s.Add(5)
		want(5)
	})
}
