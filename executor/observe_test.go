package executor

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestObservingCostsNothingWhenNobodyDoes(t *testing.T) {
	e, r, now, ctx := &Executor{}, &Run{delivery: delivery{trigger: &bus.Trigger{}}}, time.Now(), t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		_ = e.observe(ctx, r)
		r.observeEnd(outcome{}, now)
	}); n != 0 {
		t.Errorf("%v allocations an attempt", n)
	}
}
