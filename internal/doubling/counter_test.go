package doubling

import (
	"strconv"
	"testing"
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

func TestNoMoreKeysAreRememberedThanMaxKeys(t *testing.T) {
	var c Counter
	for n := range 10 * MaxKeys {
		c.Add(strconv.Itoa(n))
		if len(c.n) > MaxKeys {
			t.Fatalf("%d keys are remembered", len(c.n))
		}
	}
}
