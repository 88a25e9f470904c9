//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// A run kills the process of the executor that has it, which a supervisor starts again each
// time. Each of its two attempts ends after the deaths that its job allows; a run of 40 steps
// that was beside it is begun a second time at most.
func TestARunThatKillsItsExecutorsEndsAndSparesTheOthers(t *testing.T) {
	t.Parallel()
	const group = "fatal"
	c := newServers(t, 1)
	c.startExecutor("executor-fatal", processtest.Program(t, "carillon"), "executor", "--group", group, "--nats", c.reach("executor-fatal"))
	steady := fmt.Sprintf("echo steady >> %q; n=0; while [ $n -lt 40 ]; do sleep 0.5; n=$((n+1)); done", c.journal)
	culprit := fmt.Sprintf("until grep -q steady %[1]q; do sleep 0.1; done; echo culprit >> %[1]q; kill -9 $PPID", c.journal)
	for name, body := range map[string]string{
		"steady":  fmt.Sprintf(`{"job":"fatal/steady","task":{"shell":%q}}`, steady),
		"culprit": fmt.Sprintf(`{"job":"fatal/culprit","task":{"shell":%q},"max_deliveries":2,"retry":{"limit":1,"delay":"1s"}}`, culprit),
	} {
		processtest.Await(t, processtest.Patience, "save job "+name, func() error {
			_, err := client.Read[client.PutJobResult](c.api.PutJobWithBody(t.Context(), group, name, &client.PutJobParams{}, "application/json", strings.NewReader(body)))
			return err
		})
	}
	runs := map[string]job.RunID{}
	for _, name := range []string{"steady", "culprit"} {
		wanted := job.NewRunID(time.Now())
		processtest.Await(t, processtest.Patience, "run job "+name, func() error {
			accepted, err := client.Read[client.RunAccepted](c.api.RunJob(t.Context(), group, name, &client.RunJobParams{}, client.RunRequest{RunID: wanted}))
			runs[name] = accepted.RunID
			return err
		})
	}
	ended := map[string]client.RunDetail{}
	for _, name := range []string{"steady", "culprit"} {
		processtest.Await(t, 4*processtest.Patience, "wait for the end of "+name, func() error {
			run, err := client.Read[client.RunDetail](c.api.GetRun(t.Context(), string(runs[name])))
			if err == nil && !run.Status.Final() {
				err = fmt.Errorf("it is %s", run.Status)
			}
			ended[name] = run
			return err
		})
	}
	if run := ended["steady"]; run.Status != job.StatusSucceeded {
		t.Errorf("the run beside it %s", run.Status)
	}
	run := ended["culprit"]
	if run.Status != job.StatusLost || len(run.Attempts) != 2 {
		t.Errorf("the run is %s after %d attempts, want lost after 2", run.Status, len(run.Attempts))
	}
	for _, a := range run.Attempts {
		if a.Status != job.StatusLost || a.Message != "its executor died 2 times while it ran this" || a.Instance == "" {
			t.Errorf("attempt %d at %q is %s: %s", a.Attempt, a.Instance, a.Status, a.Message)
		}
	}
	deaths := 0
	for _, change := range run.Changes {
		if strings.Contains(string(change.Detail), "died or was cut off") {
			deaths++
		}
	}
	if deaths != 4 {
		t.Errorf("its history has %d deaths, want 4", deaths)
	}
	said, err := os.ReadFile(c.journal)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(said), "steady"); n > 2 {
		t.Errorf("the run beside it was begun %d times", n)
	}
	if n := strings.Count(string(said), "culprit"); n != 4 {
		t.Errorf("the run was begun %d times, want 4", n)
	}
}
