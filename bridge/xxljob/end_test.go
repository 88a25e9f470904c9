package xxljob

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Executors are told the timeout, too. Some end the run by it themselves, and report a success.
func TestASuccessThatIsReportedAtItsTimeoutIsTimedOut(t *testing.T) {
	r := &state.Run{Started: now, Trigger: &bus.Trigger{Job: "g/j", TriggerBody: bus.TriggerBody{Timeout: job.Duration(3 * time.Second)}}}
	success := wire.Callback{Code: wire.CodeOK, Msg: "killed"}
	if e := endOf(r, success, now.Add(3*time.Second-time.Millisecond)); e.status != job.StatusSucceeded {
		t.Errorf("before its timeout: %+v", e)
	}
	if e := endOf(r, success, now.Add(3*time.Second)); e.status != job.StatusTimedOut || e.message != "took longer than its timeout of 3s" || string(e.result) != `"killed"` {
		t.Errorf("at its timeout: %+v", e)
	}
}
