//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// judged is what "carillon ledger verify" says, as a user would run it, of all fires in [from,
// to) of the load's group.
func (c *system) judged(t *testing.T, group string, from, to time.Time) client.VerifiedPage {
	t.Helper()
	cmd := exec.Command(processtest.Program(t, "carillon"), "ledger", "verify", "--server", c.api.Address(), "--token", c.token, "--group", group,
		"--from", from.UTC().Format(time.RFC3339Nano), "--to", to.UTC().Format(time.RFC3339Nano), "-o", "json")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var page client.VerifiedPage
	if bad := json.Unmarshal(out.Bytes(), &page); bad != nil {
		t.Fatalf("carillon ledger verify: %v: %s%s", err, out.String(), said.String())
	}
	for i, f := range page.Discrepancies {
		if i == most {
			break
		}
		t.Errorf("the ledger has a discrepancy: %s version %d at %s, run %s: %s", f.Job, f.Version, f.FireTime.Format(time.RFC3339Nano), f.RunID, f.Reason)
	}
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	if want := min(page.Total.Discrepancies, 1); code != want {
		t.Errorf("carillon ledger verify finds %d discrepancies and ends with code %d: %s", page.Total.Discrepancies, code, said.String())
	}
	return page
}

// checkLedger has the ledger judge the load, and wants it to have judged all fires that
// the jobs owe by their schedules alone.
func (a *audit) checkLedger(t *testing.T, c *system, from time.Time) {
	t.Helper()
	page := c.judged(t, a.group, from, a.until.Add(time.Second))
	a.ledger = page
	if n := page.Total.Pending + page.Total.Undecided + page.Total.Unjudged; n > 0 || page.Total.Discrepancies > 0 {
		t.Errorf("the ledger is not clean: %+v", page.Total)
	}
	fires := map[job.Name]outcome.Tally{}
	for _, d := range page.Days {
		sum := fires[d.Job]
		sum.Merge(d.Tally)
		fires[d.Job] = sum
	}
	missed, skipped := a.without()
	for name, owed := range a.owed {
		got := fires[name]
		if got.Fires != len(owed) {
			t.Errorf("the ledger has %d fires of %s, which owes %d", got.Fires, name, len(owed))
		}
		if got.Missed != missed[name] || got.Skipped != skipped[name] {
			t.Errorf("the ledger has %d missed and %d skipped fires of %s, of which the history has %d and %d", got.Missed, got.Skipped, name, missed[name], skipped[name])
		}
	}
	t.Logf("carillon ledger verify: %+v", page.Total)
}

// without returns how many fires of each job had no run, by the history.
func (a *audit) without() (missed, skipped map[job.Name]int) {
	missed, skipped = map[job.Name]int{}, map[job.Name]int{}
	for i := range a.runs {
		switch r := &a.runs[i]; {
		case !fired(r):
		case r.Status == job.StatusMissed:
			missed[r.Job]++
		case r.Status == job.StatusSkipped:
			skipped[r.Job]++
		}
	}
	return missed, skipped
}
