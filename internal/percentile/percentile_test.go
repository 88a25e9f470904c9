package percentile_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/percentile"
)

func TestAPercentileIsTheLeastValueThatIsEnough(t *testing.T) {
	is := func(want int, p int, sorted ...int) {
		t.Helper()
		if got := percentile.Of(sorted, p); got != want {
			t.Errorf("%d %% of %v are at most %d; want %d", p, sorted, got, want)
		}
	}
	is(7, 0, 7)
	is(7, 50, 7)
	is(7, 100, 7)
	is(1, 50, 1, 9)
	is(9, 51, 1, 9)
	is(2, 50, 1, 2, 3)
	is(19, 95, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	is(20, 96, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
}
