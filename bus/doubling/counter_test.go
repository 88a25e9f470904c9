package doubling

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheFirstEventOfAKeyIsLoggedAndThenEachDoubling(t *testing.T) {
	var c Counter
	for want := 1; want <= 100; want++ {
		n, logged := c.Add("a")
		if power := want == 1 || want == 2 || want == 4 || want == 8 || want == 16 || want == 32 || want == 64; n != want || logged != power {
			t.Errorf("event %d is number %d, logged: %t", want, n, logged)
		}
	}
	if n, logged := c.Add("b"); n != 1 || !logged {
		t.Errorf("the first event of another key is number %d, logged: %t", n, logged)
	}
}

func TestWhoeverChoosesTheKeysFillsNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Counter
		lines := 0
		for n := range 1000 * MaxKeys {
			if _, logged := c.Add(strconv.Itoa(n)); logged {
				lines++
			}
		}
		if lines > MaxKeys+20 || len(c.n) > MaxKeys+1 {
			t.Errorf("%d lines are logged, %d keys are remembered", lines, len(c.n))
		}
	})
}

func TestEventsNowAndThenAreLoggedEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Counter
		for range 9 {
			if n, logged := c.Add("a"); n != 1 || !logged {
				t.Errorf("an event an hour after the last is number %d, logged: %t", n, logged)
			}
			time.Sleep(Window)
		}
	})
}
