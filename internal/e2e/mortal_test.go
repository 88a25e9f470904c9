//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// mortals is how many executors kill themselves; package mortal says when.
const mortals = 2

// startMortals starts them, beside the others of the group. From an instant on they do
// not die any more.
func (c *system) startMortals(group string, until time.Time) {
	c.t.Helper()
	for i := range mortals {
		name := fmt.Sprintf("mortal-%d", i)
		c.startExecutor(name, processtest.Program(c.t, "mortal"), group, name, c.reach(name), until.Format(time.RFC3339))
	}
}

// allDeaths is how long there have to be faults until each death is certain, on a busy machine too:
// there executors of the group do few runs in a minute.
const allDeaths = 30 * time.Minute

// deaths tells how often executors have killed themselves, and wants each of the ways
// after faults for such a time.
func (c *system) deaths(faults time.Duration) {
	c.t.Helper()
	for _, where := range []string{"before the acknowledgement", "before the start", "in a piece"} {
		n := 0
		for _, p := range c.executors {
			n += strings.Count(p.Said(), "dies: "+where+"\n")
		}
		c.t.Logf("executors died %s: %d times", where, n)
		if n == 0 && faults >= allDeaths {
			c.t.Errorf("no executor died %s", where)
		}
	}
}
