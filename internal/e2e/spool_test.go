//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// NATS dies, a task ends, its executor is killed and started again, and then NATS comes
// back: the run has its end and its lines, and its task was done once.
func TestWhatEndsWhileNATSIsAwayOutlivesItsExecutor(t *testing.T) {
	t.Parallel()
	const group, name = "kept", "executor-kept"
	c := newCluster(t, 1, "other", false)
	spool := filepath.Join(t.TempDir(), "spool")
	c.startExecutor(name, processtest.Program(t, "carillon"), "executor", "--group", group, "--instance", name, "--nats", c.reach(name), "--spool", spool)
	executor := c.executors[len(c.executors)-1]

	// The task ends once the test says so.
	release := filepath.Join(t.TempDir(), "release")
	script := fmt.Sprintf("echo begun >> %q; echo before; while [ ! -e %q ]; do sleep 0.1; done; echo after; echo ended >> %q", c.journal, release, c.journal)
	body := fmt.Sprintf(`{"job":"kept/task","task":{"shell":%q}}`, script)
	processtest.Await(t, processtest.Patience, "save the job", func() error {
		_, err := client.Read[client.PutJobResult](c.api.PutJobWithBody(t.Context(), group, "task", &client.PutJobParams{}, "application/json", strings.NewReader(body)))
		return err
	})
	var accepted client.RunAccepted
	wanted := job.NewRunID(time.Now())
	processtest.Await(t, processtest.Patience, "run the job", func() (err error) {
		accepted, err = client.Read[client.RunAccepted](c.api.RunJob(t.Context(), group, "task", &client.RunJobParams{}, client.RunRequest{RunID: wanted}))
		return err
	})
	c.awaitJournal("begun\n")

	c.nats[0].Kill()
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.awaitJournal("begun\nended\n")
	processtest.Await(t, processtest.Patience, "wait for the end to be on disk", func() error {
		files, err := filepath.Glob(filepath.Join(spool, "*.json"))
		if err == nil && len(files) != 1 {
			err = fmt.Errorf("the spool has %d files", len(files))
		}
		return err
	})
	executor.Kill()
	if err := executor.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.nats[0].Start(); err != nil {
		t.Fatal(err)
	}

	var run client.RunDetail
	processtest.Await(t, processtest.Patience, "wait for the run to end", func() (err error) {
		run, err = client.Read[client.RunDetail](c.api.GetRun(t.Context(), string(accepted.RunID)))
		if err == nil && !run.Status.Final() {
			err = fmt.Errorf("it is %s", run.Status)
		}
		return err
	})
	if run.Status != job.StatusSucceeded {
		t.Errorf("the run is %s", run.Status)
	}
	processtest.Await(t, processtest.Patience, "wait for the lines", func() error {
		page, err := client.Read[client.LogPage](c.api.GetLogs(t.Context(), string(accepted.RunID), &client.GetLogsParams{}))
		if err != nil {
			return err
		}
		var texts []string
		for _, line := range page.Items {
			texts = append(texts, line.Text)
		}
		if got := strings.Join(texts, ","); got != "before,after" {
			return fmt.Errorf("lines %q", got)
		}
		return nil
	})
	c.awaitJournal("begun\nended\n")
	if left, _ := filepath.Glob(filepath.Join(spool, "*.json*")); len(left) > 0 {
		t.Errorf("the spool still has %q", left)
	}
}

// awaitJournal waits until the tasks have written so much, and no more.
func (c *system) awaitJournal(want string) {
	c.t.Helper()
	processtest.Await(c.t, processtest.Patience, "wait for the tasks to have written", func() error {
		got, err := os.ReadFile(c.journal)
		if err != nil {
			return err
		}
		if string(got) != want {
			return errors.New(string(got))
		}
		return nil
	})
}
