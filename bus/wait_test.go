package bus_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestARequestAboutAWaitMustMakeSense(t *testing.T) {
	check := func(want string, change func(r *bus.WaitRequest)) {
		t.Helper()
		r := &bus.WaitRequest{ID: run, RunID: run, Job: "billing/nightly", Step: "ok", Act: bus.WaitApprove}
		change(r)
		err := r.Validate()
		if got := job.Problems(err); want == "" && err != nil || want != "" && (len(got) != 1 || got[0].Field != want) {
			t.Errorf("%+v: %v; want %q", r, err, want)
		}
	}
	signal := func(change func(r *bus.WaitRequest)) func(r *bus.WaitRequest) {
		return func(r *bus.WaitRequest) {
			r.Act, r.Step, r.Signal = bus.WaitSignal, "", "paid"
			change(r)
		}
	}
	check("", func(*bus.WaitRequest) {})
	check("", signal(func(r *bus.WaitRequest) { r.RunID, r.Key, r.Result = "", "17", json.RawMessage(`{}`) }))
	check("", func(r *bus.WaitRequest) { r.Act, r.Result = bus.WaitMet, json.RawMessage(`{}`) })
	check("act", func(r *bus.WaitRequest) { r.Act = "nod" })
	check("step", func(r *bus.WaitRequest) { r.Step = "" })
	check("step", func(r *bus.WaitRequest) { r.RunID = "" })
	check("step", signal(func(r *bus.WaitRequest) { r.Step = "ok" }))
	check("signal", func(r *bus.WaitRequest) { r.Key = "17" })
	check("signal", signal(func(r *bus.WaitRequest) { r.Signal = "Paid" }))
	check("key", signal(func(r *bus.WaitRequest) { r.Key = strings.Repeat("x", job.MaxSignalKey+1) }))
	check("result", func(r *bus.WaitRequest) { r.Result = json.RawMessage(`{}`) })
	check("result", signal(func(r *bus.WaitRequest) { r.Result = json.RawMessage(`{`) }))
	check("result", signal(func(r *bus.WaitRequest) { r.Result = json.RawMessage(`"` + strings.Repeat("x", bus.MaxResult) + `"`) }))
	check("note", func(r *bus.WaitRequest) { r.Note = strings.Repeat("x", job.MaxMarkNote+1) })
	check("run_id", func(r *bus.WaitRequest) { r.ID = "x" })
	check("run_id", func(r *bus.WaitRequest) { r.RunID = "x" })
}
