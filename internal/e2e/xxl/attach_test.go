//go:build unix

package xxl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// allVersions names the environment's word, set to anything, that all versions and clients are tested.
// Without it, these are the newest version of each dialect, and a client of each language.
const allVersions = "CARILLON_XXL_ALL"

// tested returns the executors to test.
func tested() []kind {
	if os.Getenv(allVersions) != "" {
		return everyKind()
	}
	return []kind{javaOf(newestOfA), javaOf(newestOfB), standIn}
}

// TestExecutorsAttachAsTheyAre runs jobs on three executors of each kind, behind two bridges. The tests
// of a kind have jobs of their own, and leave the system as they found it.
func TestExecutorsAttachAsTheyAre(t *testing.T) {
	for _, k := range tested() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			s := newSystem(t, "pay-app")
			s.attach(3, k)
			for _, test := range []struct {
				name string
				run  func(*system, *testing.T)
			}{
				{"success", (*system).succeeds},
				{"failure", (*system).fails},
				{"timeout", (*system).timesOut},
				{"kill", (*system).isKilled},
				{"broadcast", (*system).broadcasts},
				{"scripts", (*system).runsScripts},
				{"GLUE in Java", (*system).runsJavaSource},
				{"serial", (*system).queues},
				{"discard", (*system).discards},
				{"cover", (*system).covers},
				{"long log", (*system).logsMuch},
				{"executor killed", (*system).losesAnExecutor},
				{"bridge killed", (*system).losesABridge},
				{"both bridges killed", (*system).losesBothBridges},
				{"NATS restarted", (*system).losesNATS},
				{"executor leaves and comes back", (*system).seesExecutorsGoAndCome},
				{"wrong token", (*system).refusesAWrongToken},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(s, t) })
			}
		})
	}
}

func (s *system) kind() kind { return s.peers[0].kind }

func (s *system) succeeds(t *testing.T) {
	t.Helper()
	s.save(t, "success", `"task": {"handler": "success"}`)
	param := `你好, "世界" 😀 a=b`
	r := s.await(t, s.run(t, "success", param), job.StatusSucceeded)
	if n := s.count(t, param); n != 1 {
		t.Errorf("the handler was called %d times with the parameter, want once", n)
	}
	s.awaitLog(t, r.RunID, nil, has("param: "+param))
	if !strings.Contains(string(r.Message)+string(r.Result), "你好") {
		t.Errorf("the message of its success is not kept: message %q, result %q", r.Message, r.Result)
	}
}

func (s *system) fails(t *testing.T) {
	t.Helper()
	for handler, message := range map[string]string{"failure": "failed: 磁盘已满", "exception": "磁盘已满"} {
		s.save(t, handler, fmt.Sprintf(`"task": {"handler": %q}`, handler))
		r := s.await(t, s.run(t, handler, "磁盘已满"), job.StatusFailed)
		if !strings.Contains(string(r.Message), message) {
			t.Errorf("%s: the message is %q, want %q in it", handler, r.Message, message)
		}
	}
	s.save(t, "retried", `"task": {"handler": "failure"}, "retry": {"limit": 2, "delay": "100ms", "backoff": "constant"}`)
	param := "retried"
	if r := s.await(t, s.run(t, "retried", param), job.StatusFailed); r.Attempt != 3 || s.count(t, param) != 3 {
		t.Errorf("%d attempts, and %d calls of the handler; want 3", r.Attempt, s.count(t, param))
	}
}

func (s *system) timesOut(t *testing.T) {
	t.Helper()
	s.save(t, "late", `"task": {"handler": "slow"}, "timeout": "1s"`)
	begun := time.Now()
	want := []job.Status{job.StatusTimedOut}
	if s.kind() == goClient { // it interrupts the handler, and reports what that returns
		want = append(want, job.StatusSucceeded)
	}
	s.await(t, s.run(t, "late", "60000 late"), want...)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("its end came after %s", took)
	}
	s.awaitOutcome(t, "60000 late", "interrupted")
}

// awaitOutcome waits until the handlers with a parameter have ended so.
func (s *system) awaitOutcome(t *testing.T, param, outcome string) {
	t.Helper()
	processtest.Await(t, processtest.Patience, "wait for the handler to be "+outcome, func() error {
		if lines := s.witnessed(t, param); !slices.ContainsFunc(lines, func(l line) bool { return l.outcome == outcome }) {
			return fmt.Errorf("it has said %v", lines)
		}
		return nil
	})
}

func (s *system) isKilled(t *testing.T) {
	t.Helper()
	s.save(t, "killed", `"task": {"handler": "slow"}, "overlap": {"policy": "allow"}`)
	s.save(t, "spared", `"task": {"handler": "slow"}`)
	// Runs of one job on all executors: an executor is told to kill a job, which must not be another's run.
	ids := map[string]job.RunID{}
	for i := range 3 {
		param := fmt.Sprintf("6000 killed %d", i)
		ids[param] = s.run(t, "killed", param)
	}
	if s.kind() != goClient { // with two runs of a handler it knows only the one that began last
		ids["4000 spared"] = s.run(t, "spared", "4000 spared")
	}
	for param := range ids {
		s.awaitStart(t, param)
	}
	victim := "6000 killed 1"
	s.cancel(t, ids[victim])
	s.await(t, ids[victim], s.cancelled()...)
	s.awaitOutcome(t, victim, "interrupted")
	delete(ids, victim)
	for _, id := range ids {
		s.await(t, id, job.StatusSucceeded)
	}
}

// cancelled returns how a run may end that is cancelled and listens.
func (s *system) cancelled() []job.Status {
	if s.kind() == goClient { // it reports whatever the handler returns, as success
		return []job.Status{job.StatusCancelled, job.StatusSucceeded}
	}
	return []job.Status{job.StatusCancelled}
}

func (s *system) cancel(t *testing.T, id job.RunID) {
	t.Helper()
	processtest.Await(t, processtest.Patience, "cancel run "+string(id), func() error {
		_, err := client.Read[client.CancelAccepted](s.api.CancelRun(t.Context(), string(id), &client.CancelRunParams{}, client.CancelRequest{Reason: "a test"}))
		return err
	})
}

func (s *system) broadcasts(t *testing.T) {
	t.Helper()
	s.save(t, "everywhere", `"task": {"handler": "shard"}, "route": "broadcast"`)
	id := s.run(t, "everywhere", "")
	s.await(t, id, job.StatusSucceeded)
	for index := range 3 {
		s.awaitLog(t, id, &index, has(fmt.Sprintf("piece %d of 3", index)))
	}
	id = s.run(t, "everywhere", "1 fails")
	s.await(t, id, job.StatusFailed)
	processtest.Await(t, processtest.Patience, "see how the pieces ended", func() error {
		pieces, err := s.api.Pieces(t.Context(), string(id), client.ListPiecesParams{}, 0)
		if err != nil {
			return err
		}
		var are []job.Status
		for _, p := range pieces.Items {
			are = append(are, p.Status)
		}
		if want := []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusSucceeded}; !slices.Equal(are, want) {
			return fmt.Errorf("they are %v, want %v", are, want)
		}
		return nil
	})
	at := map[*peer]bool{}
	for _, l := range s.witnessed(t, "1 fails") {
		at[l.peer] = true
	}
	if len(at) != 3 {
		t.Errorf("the pieces ran on %d executors, want 3", len(at))
	}
}

func (s *system) runsScripts(t *testing.T) {
	t.Helper()
	s.save(t, "shell", `"task": {"script": {"language": "shell", "source": "echo \"shell has $1, 你好\"\nexit 0"}}`)
	s.save(t, "python", `"task": {"script": {"language": "python", "source": "import sys\nprint('python has', sys.argv[1])\nsys.exit(3)"}}`)
	want := []job.Status{job.StatusSucceeded, job.StatusFailed}
	if s.kind() == goClient { // it runs no scripts
		want[0] = job.StatusFailed
	}
	shell := s.await(t, s.run(t, "shell", "a b"), want[0])
	python := s.await(t, s.run(t, "python", "c d"), want[1])
	if s.kind() == goClient {
		if !strings.Contains(string(shell.Message), "Task not registered") {
			t.Errorf("the message is %q", shell.Message)
		}
		return
	}
	s.awaitLog(t, shell.RunID, nil, has("shell has a b, 你好"))
	s.awaitLog(t, python.RunID, nil, has("python has c d"))
	if !strings.Contains(string(python.Message), "3") {
		t.Errorf("the message does not tell the exit code: %q", python.Message)
	}
}

// runsJavaSource runs source that the executor's program compiles, with a class of its own, and then
// another text of the same job.
func (s *system) runsJavaSource(t *testing.T) {
	t.Helper()
	if !s.kind().java || s.kind().name == "2.2.0" { // its handlers return their outcome
		return
	}
	source := func(answer string) string {
		text := fmt.Sprintf(`import com.xxl.job.core.context.XxlJobHelper;
public class Glue extends com.xxl.job.core.handler.IJobHandler {
    public void execute() throws Exception {
        XxlJobHelper.log("{} has {}", carillon.xxl.Main.class.getSimpleName(), XxlJobHelper.getJobParam());
        %s
    }
}`, answer)
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return `"task": {"script": {"language": "groovy", "source": ` + string(data) + `}}`
	}
	s.save(t, "glue", source(`XxlJobHelper.handleSuccess("glued");`))
	r := s.await(t, s.run(t, "glue", "a 你好"), job.StatusSucceeded)
	if string(r.Result) != `"glued"` {
		t.Errorf("the result is %s", r.Result)
	}
	s.awaitLog(t, r.RunID, nil, has("Main has a 你好"))
	s.save(t, "glue", source(`throw new IllegalStateException("no glue");`))
	r = s.await(t, s.run(t, "glue", "b"), job.StatusFailed)
	if !strings.Contains(string(r.Message), "no glue") {
		t.Errorf("the message is %q", r.Message)
	}
	s.save(t, "glue", `"task": {"script": {"language": "groovy", "source": "this is no source"}}`)
	s.await(t, s.run(t, "glue", "c"), job.StatusFailed)
}

func (s *system) queues(t *testing.T) {
	t.Helper()
	s.save(t, "serial", `"task": {"handler": "slow"}, "overlap": {"policy": "queue", "queue": 10}`)
	first, second := s.run(t, "serial", "1000 first"), s.run(t, "serial", "0 second")
	s.await(t, first, job.StatusSucceeded)
	s.await(t, second, job.StatusSucceeded)
	var order []string
	for _, p := range s.peers {
		for _, l := range p.witnessed(t) {
			if l.param == "1000 first" || l.param == "0 second" {
				order = append(order, l.what)
			}
		}
	}
	a, b := s.newest(t, first), s.newest(t, second)
	if b.StartedAt.Before(a.FinishedAt) || len(order) != 4 {
		t.Errorf("the second began at %s, before the first ended at %s; the handlers said %v", b.StartedAt, a.FinishedAt, order)
	}
}

// newest returns the newest attempt of a run that the history has.
func (s *system) newest(t *testing.T, id job.RunID) client.Run {
	t.Helper()
	_, r, err := s.status(t, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *system) discards(t *testing.T) {
	t.Helper()
	s.save(t, "discard", `"task": {"handler": "slow"}, "overlap": {"policy": "skip"}`)
	first := s.run(t, "discard", "3000 stays")
	s.awaitStart(t, "3000 stays")
	s.await(t, s.run(t, "discard", "0 goes"), job.StatusSkipped)
	s.await(t, first, job.StatusSucceeded)
	if n := s.count(t, "0 goes"); n != 0 {
		t.Errorf("the second run was done %d times", n)
	}
}

func (s *system) covers(t *testing.T) {
	t.Helper()
	s.save(t, "cover", `"task": {"handler": "slow"}, "overlap": {"policy": "replace"}`)
	first := s.run(t, "cover", "60000 old")
	s.awaitStart(t, "60000 old")
	second := s.run(t, "cover", "0 new")
	s.await(t, first, s.cancelled()...)
	s.await(t, second, job.StatusSucceeded)
	s.awaitOutcome(t, "60000 old", "interrupted")
}

// manyLines are those of a long log.
const manyLines = 10_000

func (s *system) logsMuch(t *testing.T) {
	t.Helper()
	s.save(t, "log", `"task": {"handler": "log"}`)
	id := s.run(t, "log", strconv.Itoa(manyLines))
	s.await(t, id, job.StatusSucceeded)
	s.awaitLog(t, id, nil, func(lines []string) error {
		next := 1
		for _, l := range lines {
			if strings.HasSuffix(l, fmt.Sprintf("line %d of %d", next, manyLines)) {
				next++
			} else if strings.Contains(l, fmt.Sprintf(" of %d", manyLines)) {
				return fmt.Errorf("after line %d comes %q", next-1, l)
			}
		}
		if next != manyLines+1 {
			return fmt.Errorf("there are %d lines", next-1)
		}
		return nil
	})
}

func (s *system) losesAnExecutor(t *testing.T) {
	t.Helper()
	s.save(t, "again", `"task": {"handler": "slow"}`)
	s.save(t, "once", `"task": {"handler": "slow"}, "delivery": "at_most_once"`)
	again, once := s.run(t, "again", "8000 again"), s.run(t, "once", "8000 once")
	// Both have begun before any executor is killed: they may be at the same one.
	ofAgain, ofOnce := s.awaitStart(t, "8000 again"), s.awaitStart(t, "8000 once")
	ofAgain.Kill()
	defer ofAgain.Begin(t)
	if ofOnce != ofAgain {
		ofOnce.Kill()
		defer ofOnce.Begin(t)
	}
	s.await(t, again, job.StatusSucceeded)
	s.await(t, once, job.StatusLost)
	if n := s.count(t, "8000 once"); n != 1 {
		t.Errorf("a run that is at most once was begun %d times", n)
	}
	if n := s.count(t, "8000 again"); n < 2 {
		t.Errorf("the other run was begun %d times, want twice at least", n)
	}
}

func (s *system) losesABridge(t *testing.T) {
	t.Helper()
	s.awaitInstances(len(s.peers))
	s.save(t, "bridged", `"task": {"handler": "slow"}, "overlap": {"policy": "allow"}, "delivery": "at_most_once"`)
	for i, b := range s.bridges {
		if s.kind() == goClient && i == 0 {
			continue // it knows no other admin, and tries once
		}
		ids := s.some(t, "bridged", "5000", 3)
		b.Kill()
		s.awaitOnce(t, ids)
		b.Begin(t)
	}
}

// some starts runs of a job on all executors, waits until they have begun, and returns them by their
// parameters, which begin with number.
func (s *system) some(t *testing.T, name, number string, n int) map[string]job.RunID {
	t.Helper()
	ids := map[string]job.RunID{}
	for i := range n {
		param := fmt.Sprintf("%s %s %d %d", number, name, i, time.Now().UnixNano())
		ids[param] = s.run(t, name, param)
	}
	for param := range ids {
		s.awaitStart(t, param)
	}
	return ids
}

// awaitOnce wants runs to succeed and to have been done once.
func (s *system) awaitOnce(t *testing.T, ids map[string]job.RunID) {
	t.Helper()
	for param, id := range ids {
		s.await(t, id, job.StatusSucceeded)
		if n := s.count(t, param); n != 1 {
			t.Errorf("run %s was begun %d times", id, n)
		}
	}
}

func (s *system) losesBothBridges(t *testing.T) {
	t.Helper()
	s.awaitInstances(len(s.peers))
	s.save(t, "unbridged", `"task": {"handler": "slow"}, "overlap": {"policy": "allow"}, "delivery": "at_most_once"`)
	number := "5000"
	if s.kind() != goClient { // the others call back again after 30 s
		number = "1500"
	}
	ids := s.some(t, "unbridged", number, 3)
	for _, b := range s.bridges {
		b.Kill()
	}
	if s.kind() != goClient {
		for param := range ids {
			s.awaitOutcome(t, param, "succeeded")
		}
	}
	for _, b := range s.bridges {
		b.Begin(t)
	}
	s.awaitOnce(t, ids)
}

func (s *system) losesNATS(t *testing.T) {
	t.Helper()
	s.awaitInstances(len(s.peers))
	s.save(t, "cut-off", `"task": {"handler": "slow"}, "overlap": {"policy": "allow"}, "delivery": "at_most_once"`)
	ids := s.some(t, "cut-off", "6000", 3)
	s.nats.Kill()
	s.nats.Begin(t)
	s.awaitOnce(t, ids)
}

func (s *system) seesExecutorsGoAndCome(t *testing.T) {
	t.Helper()
	s.awaitInstances(len(s.peers))
	s.save(t, "later", `"task": {"handler": "success"}`)
	if s.kind() == goClient {
		return // it goes on to register while it stops
	}
	for _, p := range s.peers {
		p.Terminate()
		if _, err := p.Wait(processtest.Patience); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitInstances(0)
	id := s.run(t, "later", "waits")
	processtest.Await(t, processtest.Patience, "see the run wait", func() error {
		if is, _, err := s.status(t, id); err != nil || is != job.StatusPending {
			return errors.Join(err, fmt.Errorf("it is %s", is))
		}
		return nil
	})
	for _, p := range s.peers {
		p.Begin(t)
	}
	s.await(t, id, job.StatusSucceeded)
	s.awaitInstances(len(s.peers))
}

func (s *system) refusesAWrongToken(t *testing.T) {
	t.Helper()
	p := newPeer(t, s.kind(), settings{admin: s.admins[0], appname: s.appname, token: "another"})
	p.Begin(t)
	processtest.Await(t, processtest.Patience, "see the bridge refuse the executor", func() error {
		if !strings.Contains(s.bridges[0].Said(), "access token is wrong") {
			return errors.New("nothing yet")
		}
		return nil
	})
	list, err := s.instances()
	if err != nil || len(list) != len(s.peers) {
		t.Errorf("%d instances, %v; want %d", len(list), err, len(s.peers))
	}
}
