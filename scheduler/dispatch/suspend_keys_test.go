package dispatch

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// What is shown is written anew when one instance is suspended in place of another, and when
// one is suspended again, not only when there are more or fewer.
func TestSuspensionsDifferByInstanceAndTerm(t *testing.T) {
	at := time.Date(2026, 1, 5, 2, 0, 0, 0, time.UTC)
	a, b := bus.Suspension{Group: "g", Instance: "a", Until: at}, bus.Suspension{Group: "g", Instance: "b", Until: at}
	again := bus.Suspension{Group: "g", Instance: "a", Until: at.Add(time.Minute)}
	for _, c := range []struct {
		one, other []bus.Suspension
		same       bool
	}{
		{[]bus.Suspension{a, b}, []bus.Suspension{b, a}, true},
		{[]bus.Suspension{a}, []bus.Suspension{b}, false},
		{[]bus.Suspension{a}, []bus.Suspension{again}, false},
		{nil, []bus.Suspension{a}, false},
	} {
		if got := slices.Equal(suspendedKeys(c.one), suspendedKeys(c.other)); got != c.same {
			t.Errorf("%v and %v: same is %t", c.one, c.other, got)
		}
	}
}
