//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// dev is a `carillon dev` on a data folder that outlives it.
type dev struct {
	*processtest.Process
	data string
	api  *client.API
}

// newDev returns a dev that runs on free ports and has not been started.
func newDev(t *testing.T, env ...string) *dev {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	journal := filepath.Join(filepath.Dir(data), "journal")
	return &dev{data: data, Process: processtest.New(t, "dev", append(env, "JOURNAL="+journal),
		processtest.Program(t, "carillon"), "dev", "--data", data, "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0")}
}

var addressPattern = regexp.MustCompile(`API and console +http://(\S+)`)

// Begin starts dev, and waits for the address that it prints.
func (d *dev) Begin(t *testing.T) {
	t.Helper()
	before := len(d.Said())
	d.Process.Begin(t)
	var address string
	processtest.Await(t, processtest.Patience, "wait for dev to print its address", func() error {
		if err := d.Alive(); err != nil {
			t.Fatal(err)
		}
		found := addressPattern.FindStringSubmatch(d.Said()[before:])
		if found == nil {
			return errors.New("nothing yet")
		}
		address = found[1]
		return nil
	})
	var err error
	if d.api, err = client.New(address, "e2e"); err != nil {
		t.Fatal(err)
	}
}

// Interrupt ends dev as Ctrl-C does, and wants it to end well within five seconds.
func (d *dev) Interrupt(t *testing.T) {
	t.Helper()
	d.Process.Interrupt()
	code, err := d.Wait(5 * time.Second)
	if err != nil || code != 0 {
		t.Fatalf("after SIGINT: exit code %d, %v\n%s", code, err, d.Tail(processtest.ShownLines))
	}
}

// save saves a job of the group that dev runs.
func (d *dev) save(t *testing.T, name, document string) {
	t.Helper()
	d.saveIn(t, "default", name, document)
}

func (d *dev) saveIn(t *testing.T, group, name, document string) {
	t.Helper()
	body := fmt.Sprintf(`{"job": "%s/%s", %s}`, group, name, document)
	_, err := client.Read[client.PutJobResult](d.api.PutJobWithBody(t.Context(), group, name, &client.PutJobParams{}, "application/json", strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
}

// run asks for a run of a job. It asks again, for the same run, while the job's shard
// has no owner: a node that was killed has one until its lease ends.
func (d *dev) run(t *testing.T, name string) job.RunID {
	t.Helper()
	return d.runIn(t, "default", name)
}

func (d *dev) runIn(t *testing.T, group, name string) job.RunID {
	t.Helper()
	wanted, id := job.NewRunID(time.Now()), job.RunID("")
	processtest.Await(t, processtest.Patience, "run "+name, func() error {
		accepted, err := client.Read[client.RunAccepted](d.api.RunJob(t.Context(), group, name, &client.RunJobParams{}, client.RunRequest{RunID: wanted}))
		if err != nil && !errors.Is(err, job.ErrUnavailable) {
			t.Fatal(err)
		}
		id = accepted.RunID
		return err
	})
	return id
}

// awaitSuccess waits until a run has succeeded, and returns its newest attempt.
func (d *dev) awaitSuccess(t *testing.T, id job.RunID) client.Run {
	t.Helper()
	var detail client.RunDetail
	processtest.Await(t, processtest.Patience, "wait for the success of run "+string(id), func() (err error) {
		if detail, err = client.Read[client.RunDetail](d.api.GetRun(t.Context(), string(id))); err != nil {
			return err
		}
		if detail.Status != job.StatusSucceeded {
			return fmt.Errorf("it is %s", detail.Status)
		}
		return nil
	})
	return detail.Attempts[0]
}

// awaitLog waits until the log of a run has all of the words. Lines and the end of
// their run come into the store by different ways.
func (d *dev) awaitLog(t *testing.T, id job.RunID, words ...string) {
	t.Helper()
	processtest.Await(t, processtest.Patience, "read the log of run "+string(id), func() error {
		page, err := client.Read[client.LogPage](d.api.GetLogs(t.Context(), string(id), &client.GetLogsParams{}))
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, line := range page.Items {
			text.WriteString(line.Text + "\n")
		}
		for _, word := range words {
			if !strings.Contains(text.String(), word) {
				return fmt.Errorf("%q is not in it: %q", word, text.String())
			}
		}
		return nil
	})
}

func TestDevRunsItsSamplesAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	d.Begin(t)

	id := d.run(t, "ask-me")
	d.awaitSuccess(t, id)
	d.awaitLog(t, id, "run "+string(id), `"greeting"`)
	var beat client.Run
	processtest.Await(t, processtest.Patience, "wait for the heartbeat job to fire", func() error {
		page, err := d.api.Runs(t.Context(), client.ListRunsParams{Job: &[]string{"default/heartbeat"}, Status: &[]client.Status{job.StatusSucceeded}}, 1)
		if err == nil && len(page.Items) == 0 {
			err = errors.New("no run yet")
		}
		if err == nil {
			beat = page.Items[0]
		}
		return err
	})
	d.awaitLog(t, beat.RunID, "all is well")
	d.Interrupt(t)
}

func TestDevCatchesUpWithWhatItMissed(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	d.Begin(t)
	d.save(t, "steady", `"schedule": {"fixed_rate": "1s"}, "misfire": {"policy": "fire_all"}, "task": {"command": ["true"]}`)
	fires := func() (list []client.Run) {
		page, err := d.api.Runs(t.Context(), client.ListRunsParams{Job: &[]string{"default/steady"}, Status: &[]client.Status{job.StatusSucceeded}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return page.Items
	}
	processtest.Await(t, processtest.Patience, "wait for fires", func() error {
		if n := len(fires()); n < 2 {
			return fmt.Errorf("%d runs", n)
		}
		return nil
	})
	d.Interrupt(t)
	stopped := time.Now()
	time.Sleep(4 * time.Second)
	d.Begin(t)
	resumed := time.Now()

	processtest.Await(t, processtest.Patience, "wait for the fires of the time away", func() error {
		list := fires()
		newest, oldest := list[0].FireTime, list[len(list)-1].FireTime
		if newest.Before(resumed) {
			return fmt.Errorf("the newest is of %s", newest)
		}
		if want := int(newest.Sub(oldest)/time.Second) + 1; len(list) != want {
			return fmt.Errorf("%d runs of %d; away from %s to %s", len(list), want, stopped, resumed)
		}
		return nil
	})
	d.Interrupt(t)
}

func TestDevRunsAgainWhatAKillInterrupted(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	d.Begin(t)
	d.save(t, "slow", `"task": {"shell": "echo delivery $CARILLON_DELIVERY | tee -a $JOURNAL; [ $CARILLON_DELIVERY != 1 ] || sleep 60"}`)
	id := d.run(t, "slow")
	journal := filepath.Join(filepath.Dir(d.data), "journal")
	processtest.Await(t, processtest.Patience, "wait for the run to begin", func() error {
		_, err := os.Stat(journal)
		return err
	})
	d.Kill()
	d.Begin(t)

	if run := d.awaitSuccess(t, id); run.Attempt != 1 {
		t.Errorf("the run ended in attempt %d, which nothing asked for", run.Attempt)
	}
	said, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(said), "\n"); n != 2 {
		t.Errorf("the run was executed %d times, want twice: %q", n, said)
	}
	d.Interrupt(t)
}
