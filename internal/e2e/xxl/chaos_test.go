//go:build unix

package xxl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// shortChaos is how long faults are injected when nobody says.
const shortChaos = 12 * time.Second

// askEvery is how often a run is asked for: less often than the executors could do them in between
// faults, as each does one run of a job at a time. Else they would wait at the end for as long as
// there were faults.
const askEvery = 300 * time.Millisecond

// drain is how long runs may take to end after the last fault. A bridge gives a run up that its
// executor has forgotten, as one does that was killed and is back at once, after 90 s.
const drain = 5 * time.Minute

// TestChaosLosesAndDoublesNothingThroughBridges kills and freezes bridges, and kills executors and NATS,
// at random. Then every run has one end, one that is at most once was done once at most, and the
// ledger has nothing to complain of.
func TestChaosLosesAndDoublesNothingThroughBridges(t *testing.T) {
	d, seed := processtest.ChaosFor(t, shortChaos), rand.Uint64()
	t.Logf("seed %d, faults for %s", seed, d)
	s := newSystem(t, "chaos-app")
	s.attach(2, standIn)
	if err := hasMaven(); err != nil && os.Getenv("CI") == "" {
		t.Logf("the executor in Java is LEFT OUT: %v", err)
	} else {
		s.attach(1, javaOf(newestOfB))
	}
	begun := time.Now()
	until := begun.Add(d).UTC().Truncate(time.Second)
	const scheduled = 5
	for i := range scheduled {
		s.save(t, fmt.Sprintf("fires-%d", i), fmt.Sprintf(`"schedule": {"fixed_rate": "1s", "until": %q}, "misfire": {"policy": "fire_all", "max_age": "24h"}, "task": {"handler": "slow"}, "params": "%d fires"`,
			until.Format(time.RFC3339), 100*i))
	}
	s.save(t, "once", `"task": {"handler": "slow"}, "delivery": "at_most_once", "overlap": {"policy": "allow"}`)
	s.save(t, "again", `"task": {"handler": "slow"}, "overlap": {"policy": "allow"}`)
	s.save(t, "one-by-one", `"task": {"handler": "slow"}, "delivery": "at_most_once", "overlap": {"policy": "queue", "queue": 100}`)

	faults, heal := context.WithTimeout(t.Context(), d)
	defer heal()
	asked := map[string]job.RunID{} // by their parameters
	var both sync.WaitGroup
	both.Go(func() { s.strike(faults, rand.New(rand.NewPCG(seed, 1))) })
	r := rand.New(rand.NewPCG(seed, 2))
	for i := 0; faults.Err() == nil; i++ {
		name := []string{"once", "again", "one-by-one"}[i%3]
		if name == "one-by-one" && i%15 != 2 { // they have to end one after the other
			name = "once"
		}
		param := fmt.Sprintf("%d %s %d", r.IntN(1500), name, i)
		asked[param] = s.run(t, name, param)
		select {
		case <-time.After(askEvery):
		case <-faults.Done():
		}
	}
	both.Wait()
	for _, p := range append(s.peerProcesses(), append(s.bridges, s.nats)...) {
		if err := p.Alive(); err != nil {
			t.Error(err)
		}
	}
	s.judge(t, asked, begun, until)
}

// The newest versions of two dialects.
const (
	newestOfA = "3.2.0"
	newestOfB = "3.3.2"
)

func (s *system) peerProcesses() (all []*processtest.Process) {
	for _, p := range s.peers {
		all = append(all, p.Process)
	}
	return all
}

// strike injects faults until ctx is done, and heals them.
func (s *system) strike(ctx context.Context, r *rand.Rand) {
	pause := func(least, most time.Duration) {
		select {
		case <-time.After(least + time.Duration(r.Int64N(int64(most-least)))):
		case <-ctx.Done():
		}
	}
	restart := func(p *processtest.Process) {
		p.Kill()
		pause(0, 3*time.Second)
		if err := p.Start(); err != nil {
			s.t.Error(err)
		}
	}
	counts := map[string]int{}
	for ctx.Err() == nil {
		pause(500*time.Millisecond, 4*time.Second)
		bridge := s.bridges[r.IntN(len(s.bridges))]
		switch n := r.IntN(10); {
		case n < 4:
			counts["bridge killed"]++
			restart(bridge)
		case n < 6:
			counts["bridge frozen"]++
			bridge.Signal(syscall.SIGSTOP)
			pause(time.Second, 20*time.Second)
			bridge.Signal(syscall.SIGCONT)
		case n < 9:
			counts["executor killed"]++
			restart(s.peers[r.IntN(len(s.peers))].Process)
		default:
			counts["NATS killed"]++
			restart(s.nats)
		}
	}
	s.t.Logf("faults: %v", counts)
}

// judge wants each run that was asked for, and each fire, to have one end.
func (s *system) judge(t *testing.T, asked map[string]job.RunID, from, until time.Time) {
	t.Helper()
	processtest.Await(t, drain, "wait until all runs have ended", func() error {
		page, err := s.api.Runs(t.Context(), client.ListRunsParams{Group: &s.appname, Status: &[]client.Status{job.StatusPending, job.StatusQueued, job.StatusRunning}}, 5)
		if err == nil && len(page.Items) > 0 {
			err = fmt.Errorf("there are some that have not, such as %+v", page.Items[0])
		}
		if err != nil {
			return err
		}
		for param, id := range asked { // the history may not have all of them yet
			if is, _, err := s.status(t, id); err != nil || !is.Final() {
				return errors.Join(fmt.Errorf("run %s (%s) is %q", id, param, is), err)
			}
		}
		return nil
	})
	ends, starts := map[job.Status]int{}, map[string]int{}
	for _, p := range s.peers {
		for _, l := range p.witnessed(t) {
			if l.what == "start" {
				starts[l.param]++
			}
		}
	}
	for param, id := range asked {
		is, r, err := s.status(t, id)
		if err != nil {
			t.Errorf("run %s (%s): %v", id, param, err)
			continue
		}
		ends[is]++
		n := starts[param]
		switch once := !strings.Contains(param, " again "); {
		case once && n > 1:
			t.Errorf("run %s (%s), which is at most once, was begun %d times; it is %s: %s %s", id, param, n, is, r.Message, r.Reason)
		case is == job.StatusSucceeded && n == 0:
			t.Errorf("run %s (%s) has succeeded and was not begun", id, param)
		case is == job.StatusSucceeded, once && is == job.StatusLost:
		case once && is == job.StatusFailed && n == 0: // its executor was away when it was to begin: it is not tried elsewhere
		default:
			t.Errorf("run %s (%s) is %s: %s %s", id, param, is, r.Message, r.Reason)
		}
	}
	t.Logf("%d runs asked for: %v", len(asked), ends)
	cmd := exec.Command(processtest.Program(t, "carillon"), "ledger", "verify", "--server", s.api.Address(), "--token", s.token, "--group", s.appname,
		"--from", from.UTC().Format(time.RFC3339Nano), "--to", until.Add(time.Second).Format(time.RFC3339Nano))
	processtest.Await(t, processtest.Patience, "verify the ledger", func() error {
		again := exec.Command(cmd.Path, cmd.Args[1:]...)
		out, err := again.CombinedOutput()
		if err != nil {
			err = errors.Join(err, errors.New(string(out)))
		}
		return err
	})
}
