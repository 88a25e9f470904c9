//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/bus/bustest"
	"carillon/executor"
	"carillon/executor/shell"
	"carillon/job"
)

// world is a bus in real time, for processes do not live on virtual time, with an
// executor on it.
type world struct {
	t      *testing.T
	conn   *bus.Conn
	ended  *nats.Subscription
	logged *nats.Subscription
	n      int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	broker := bustest.NewBroker(t)
	connect := func(name string) *bus.Conn {
		conn, err := bus.Connect(bus.Config{Name: name, Options: []nats.Option{nats.InProcessServer(broker.Dialer(name))}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.NC.Close)
		return conn
	}
	w := &world{t: t, conn: connect("witness")}
	if err := w.conn.Setup(t.Context(), bus.Assets{Shards: 4, TrigBytes: 8 << 20, EvtBytes: 8 << 20, LogBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := w.conn.SetupGroup(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	w.ended = w.subscribe("evt.*.g")
	w.logged = w.subscribe("log.g.*")

	e, err := executor.New(connect("executor"), executor.Config{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	shell.Register(e, shell.Config{KillAfter: 300 * time.Millisecond, TempDir: t.TempDir()})
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) subscribe(subject string) *nats.Subscription {
	w.t.Helper()
	sub, err := w.conn.NC.SubscribeSync(subject)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		w.t.Fatal(err)
	}
	return sub
}

// begin publishes a trigger for task.
func (w *world) begin(task job.Task, change ...func(*bus.Trigger)) *bus.Trigger {
	w.t.Helper()
	w.n++
	fire := time.Date(2026, time.January, 5, 2, 0, w.n, 0, time.UTC)
	t := &bus.Trigger{
		RunID: job.FireRunID("g/job", fire.UnixMilli(), job.CauseSchedule), Job: "g/job", Version: 3, Shard: job.Name("g/job").Shard(4),
		Attempt: 1, Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire, TriggerBody: bus.TriggerBody{Task: task},
	}
	for _, f := range change {
		f(t)
	}
	body, err := t.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	m := bus.NewMessage(bus.SubjectTrigger(t.Shard, "g"), bus.MessageTrigger, bus.AppendTrigger(nil, t, body))
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return t
}

// end waits for the end of the only run.
func (w *world) end() *bus.Event {
	w.t.Helper()
	for {
		m, err := w.ended.NextMsg(time.Minute)
		if err != nil {
			w.t.Fatal(err)
		}
		var e bus.Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			w.t.Fatal(err)
		}
		if e.Kind == bus.EventFinished {
			return &e
		}
	}
}

// line waits for the next line of the log.
func (w *world) line() bus.LogLine {
	w.t.Helper()
	m, err := w.logged.NextMsg(time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	var l bus.Log
	if err := json.Unmarshal(m.Data, &l); err != nil {
		w.t.Fatal(err)
	}
	return l.Lines[0]
}

// run does task and returns how it ended and what it printed, the executor's own
// lines left out.
func (w *world) run(task job.Task, change ...func(*bus.Trigger)) (*bus.Event, string) {
	w.t.Helper()
	t := w.begin(task, change...)
	e := w.end()
	var text strings.Builder
	err := w.conn.Scan(w.t.Context(), bus.StreamLog, "log.g", func(s *bus.Stored) bool {
		var l bus.Log
		if err := json.Unmarshal(s.Data, &l); err != nil {
			w.t.Error(err)
		}
		for _, line := range l.Lines {
			if l.RunID == t.RunID && line.Output != bus.OutputSystem {
				fmt.Fprintf(&text, "%s: %s\n", line.Output, line.Text)
			}
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e, text.String()
}

func sh(script string) job.Task { return job.Task{Shell: script} }

func timeout(d time.Duration) func(*bus.Trigger) {
	return func(t *bus.Trigger) { t.Timeout = job.Duration(d) }
}

// wantEnd checks an end.
func wantEnd(t *testing.T, e *bus.Event, status job.Status, code int, message string) {
	t.Helper()
	got := -1
	if e.ExitCode != nil {
		got = *e.ExitCode
	}
	if e.Status != status || got != code || !strings.Contains(e.Message, message) {
		t.Errorf("ended as %s, code %d, message %q; want %s, %d, %q", e.Status, got, e.Message, status, code, message)
	}
}

func TestTheExitCodeDecides(t *testing.T) {
	w := newWorld(t)
	ends := func(task job.Task, status job.Status, code int, message, text string) {
		t.Helper()
		e, got := w.run(task)
		wantEnd(t, e, status, code, message)
		if got != text {
			t.Errorf("printed %q, want %q", got, text)
		}
	}
	ends(sh("echo hello; printf rest"), job.StatusSucceeded, 0, "", "stdout: hello\nstdout: rest\n")
	ends(sh("exit 3"), job.StatusFailed, 3, "exit code 3", "")
	ends(sh("kill -9 $$"), job.StatusFailed, 137, "killed by signal: killed", "")
	ends(job.Task{Command: []string{"echo", "a  b", "$HOME"}}, job.StatusSucceeded, 0, "", "stdout: a  b $HOME\n")
	ends(job.Task{Shell: "cat", Stdin: "in\nput"}, job.StatusSucceeded, 0, "", "stdout: in\nstdout: put\n")
	ends(sh("cat"), job.StatusSucceeded, 0, "", "") // its input is empty, not the terminal
	ends(sh("nosuchprogram"), job.StatusFailed, 127, "exit code 127", "stderr: g/job: 1: nosuchprogram: not found\n")
}

func TestATaskKnowsItsRun(t *testing.T) {
	w := newWorld(t)
	task := sh(`echo "$CARILLON_RUN_ID $CARILLON_JOB $CARILLON_VERSION $CARILLON_CAUSE $CARILLON_FIRE_TIME $CARILLON_ATTEMPT $CARILLON_DELIVERY $CARILLON_PARAMS $OWN"`)
	task.Env = map[string]string{"OWN": "mine", "CARILLON_JOB": "forged/one"}
	e, got := w.run(task, func(t *bus.Trigger) { t.Params, t.Attempt = []byte(`{"a": "b"}`), 2 })
	want := fmt.Sprintf("stdout: %s g/job 3 schedule 2026-01-05T02:00:01.000Z 2 1 {\"a\":\"b\"} mine\n", e.RunID)
	if got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestATaskRunsInItsDirectoryOrAFreshOne(t *testing.T) {
	w := newWorld(t)
	own, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	task := sh("pwd; ls -A; echo x > file")
	_, fresh := w.run(task)
	fresh = strings.TrimSuffix(strings.TrimPrefix(fresh, "stdout: "), "\n")
	if _, err := os.Stat(fresh); !os.IsNotExist(err) || !strings.Contains(fresh, "carillon-run-") {
		t.Errorf("the fresh directory %q: %v, want it gone", fresh, err)
	}
	task.Dir = own
	if _, got := w.run(task); got != "stdout: "+own+"\n" {
		t.Errorf("printed %q, want %q", got, own)
	}
	if _, err := os.Stat(filepath.Join(own, "file")); err != nil {
		t.Error(err)
	}
}

func TestATaskThatCannotStartSaysWhy(t *testing.T) {
	w := newWorld(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails := func(task job.Task, message string) {
		t.Helper()
		e, _ := w.run(task)
		wantEnd(t, e, job.StatusFailed, -1, message)
	}
	fails(job.Task{Command: []string{"no-such-program"}}, `start "no-such-program": there is no such program in the executor's PATH`)
	fails(job.Task{Command: []string{"/no/such"}}, `start "/no/such": there is no such file`)
	fails(job.Task{Command: []string{plain}}, "not executable")
	fails(job.Task{Shell: "true", Dir: "/no/such"}, `task.dir "/no/such" does not exist`)
	fails(job.Task{Shell: "true", Dir: plain}, "is not a directory")
}

func TestLinesComeAsTheyArePrinted(t *testing.T) {
	w := newWorld(t)
	fifo := filepath.Join(t.TempDir(), "go-on")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w.begin(sh("echo first; read x < " + fifo + "; echo $x >&2"))
	if l := w.line(); l.Text != "first" {
		t.Errorf("line %q, want first", l.Text)
	}
	// The task waits for this, so the line above came while it ran.
	if err := os.WriteFile(fifo, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := w.line(); l.Text != "second" || l.Output != bus.OutputStderr || l.Level != bus.LevelWarn {
		t.Errorf("line %v, want second on stderr", l)
	}
	wantEnd(t, w.end(), job.StatusSucceeded, 0, "")
}

// lifeline is a file that a process opens to be watched: whoever reads it waits until
// all who have it open have ended.
type lifeline struct {
	t    *testing.T
	path string
	over chan error
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l := &lifeline{t, filepath.Join(t.TempDir(), "lifeline"), make(chan error, 1)}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := os.ReadFile(l.path)
		l.over <- err
	}()
	return l
}

// wantCut waits until the processes have ended.
func (l *lifeline) wantCut() {
	l.t.Helper()
	select {
	case err := <-l.over:
		if err != nil {
			l.t.Error(err)
		}
	case <-time.After(10 * time.Second):
		l.t.Error("a process of the task outlived the run")
	}
}

func TestATimeoutEndsTheTaskAndAllItsChildren(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	script := `sh -c 'trap "" TERM; while :; do sleep 0.05; done' 3> ` + child.path + ` & wait`
	e, _ := w.run(sh(script), timeout(200*time.Millisecond))
	wantEnd(t, e, job.StatusTimedOut, 143, "took longer than its timeout of 200ms")
	child.wantCut()
	if took := e.FinishedAt.Sub(e.StartedAt); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestSIGTERMComesFirstAndSIGKILLToThoseWhoIgnoreIt(t *testing.T) {
	w := newWorld(t)
	e, text := w.run(sh(`trap 'echo cleaned up; exit 0' TERM; while :; do sleep 0.02; done`), timeout(200*time.Millisecond))
	wantEnd(t, e, job.StatusTimedOut, 0, "timeout") // though it says that all is well
	if !strings.Contains(text, "stdout: cleaned up\n") {
		t.Errorf("printed %q", text)
	}
	e, _ = w.run(sh(`trap "" TERM; while :; do sleep 0.02; done`), timeout(200*time.Millisecond))
	wantEnd(t, e, job.StatusTimedOut, 137, "timeout")
}

func TestAKillReachesTheTask(t *testing.T) {
	w := newWorld(t)
	tr := w.begin(sh("echo up; sleep 600"))
	w.line()
	var reply bus.KillReply
	if err := w.conn.Ask(t.Context(), bus.SubjectKill("g"), bus.KillRequest{RunID: tr.RunID, By: "ann"}, &reply, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.end(), job.StatusCancelled, 143, "cancelled by ann")
}

func TestAChildThatKeepsTheOutputOpenDoesNotHoldTheRun(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	e, text := w.run(sh("sleep 600 3> " + child.path + " & true"))
	wantEnd(t, e, job.StatusSucceeded, 0, "")
	if !strings.Contains(text, "log: processes left behind") {
		t.Errorf("nothing is said of it: %q", text)
	}
	child.wantCut()
}

func TestBinaryOutputAndAFloodAreHarmless(t *testing.T) {
	w := newWorld(t)
	w.begin(sh("head -c 1000000 /dev/urandom"))
	wantEnd(t, w.end(), job.StatusSucceeded, 0, "")
	w.begin(sh("yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -n 200000"))
	e := w.end()
	wantEnd(t, e, job.StatusSucceeded, 0, "")
	if e.LogLines != 200000 {
		t.Errorf("%d lines logged, want 200000", e.LogLines)
	}
}
