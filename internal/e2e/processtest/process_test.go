//go:build unix

package processtest

import (
	"fmt"
	"sync"
	"testing"
)

// TestAProcessThatIsKilledDidNotEndByItself starts processes again at once, as chaos does when its time is over.
func TestAProcessThatIsKilledDidNotEndByItself(t *testing.T) {
	const processes, kills = 20, 100
	var all sync.WaitGroup
	for i := range processes {
		p := New(t, fmt.Sprintf("sleep-%d", i), nil, "sleep", "600")
		p.Keep = true
		all.Go(func() {
			for range kills {
				if err := p.Start(); err != nil {
					t.Error(err)
					return
				}
				p.Kill()
			}
			if n := p.GaveUp(); n > 0 {
				t.Errorf("%s counts as ended by itself %d times in %d kills", p.Name, n, kills)
			}
		})
	}
	all.Wait()
}
