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

// Handlers that end their process, as a lack of memory does, are started three times, and no more.
func TestTogetherHandlersThatEndTheirProcessAreLostAfterThreeDeaths(t *testing.T) {
	t.Parallel()
	c := newServers(t, 1)
	runs := map[string]job.RunID{}
	for name, command := range languages(t) {
		if name == "worker" { // whose process ends without its executor
			continue
		}
		group := "halt-" + name
		p := processtest.New(t, name, []string{"JOURNAL=" + c.journal, "CARILLON_GROUP=" + group, "CARILLON_NATS=" + c.url}, command...)
		p.Keep = true
		p.Begin(t)
		c.executors = append(c.executors, p)
		wanted := job.NewRunID(time.Now())
		processtest.Await(t, processtest.Patience, "save and run job "+group+"/halt", func() error {
			body := strings.NewReader(fmt.Sprintf(`{"job":"%s/halt","task":{"handler":"halt"}}`, group))
			if _, err := client.Read[client.PutJobResult](c.api.PutJobWithBody(t.Context(), group, "halt", &client.PutJobParams{}, "application/json", body)); err != nil {
				return err
			}
			accepted, err := client.Read[client.RunAccepted](c.api.RunJob(t.Context(), group, "halt", &client.RunJobParams{}, client.RunRequest{RunID: wanted}))
			runs[name] = accepted.RunID
			return err
		})
	}
	for name, id := range runs {
		var run client.RunDetail
		processtest.Await(t, 4*processtest.Patience, "wait for the end of the run in "+name, func() (err error) {
			if run, err = client.Read[client.RunDetail](c.api.GetRun(t.Context(), string(id))); err == nil && !run.Status.Final() {
				err = fmt.Errorf("it is %s", run.Status)
			}
			return err
		})
		if run.Status != job.StatusLost || len(run.Attempts) != 1 || run.Attempts[0].Message != "its executor died 3 times while it ran this" {
			t.Errorf("the run in %s is %s: %+v", name, run.Status, run.Attempts)
		}
		journal, err := os.ReadFile(c.journal)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(journal), string(id)); n != 3 {
			t.Errorf("the run in %s was begun %d times, want 3", name, n)
		}
	}
}
