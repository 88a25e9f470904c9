package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/processgroup"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// tailLines and tailText bound what is kept of standard error: the last lines, and the beginning
// of each.
const tailLines, tailText = 10, 500

// process is a worker process. Its runs are in calls from the message "run" to the answer.
type process struct {
	cmd      *exec.Cmd
	log      *slog.Logger
	delay    time.Duration // how long output may stay open after its end
	stdin    *input
	stdout   cutter
	stderr   *stderrPipe
	greeting chan greeting // its first message, once
	ended    chan struct{} // closed when it has, and its runs have failed
	err      error         // how; read it after ended

	occupancy // guarded by Workers.mu

	mu     sync.Mutex
	calls  map[string]*call // by id; nil once it has ended
	last   int              // id
	tail   []string         // of standard error
	spoken bool             // greeting has its value
	why    string           // it was killed
}

// occupancy is how many runs a process has, and how many it may have.
type occupancy struct{ places, busy int }

// greeting is the first message of a process.
type greeting struct {
	registration
	err error
}

// call is a run in a process.
type call struct {
	id             string
	run            *executor.Run
	log            *slog.Logger
	stdout, stderr io.Writer
	starts         chan *message // at most maxUnanswered
	answer         chan answer   // gets one
}

type answer struct {
	result any
	err    error
}

// start starts a process.
func start(ctx context.Context, cfg Config, log *slog.Logger) (*process, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), cfg.Command[0], cfg.Command[1:]...) //nolint:gosec // the program that the operator names
	p := &process{
		cmd: cmd, log: log, delay: cfg.KillAfter, greeting: make(chan greeting, 1), ended: make(chan struct{}),
		stdin: newInput(), calls: map[string]*call{},
	}
	var err error
	if p.stderr, err = newStderrPipe(p.printed); err != nil {
		return nil, err
	}
	p.stdout.line = p.receive
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &p.stdout, p.stderr.child, cfg.KillAfter
	processgroup.Set(cmd)
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = p.stderr.child.Close() // the child has its own
	go p.stderr.pump()
	if err != nil {
		p.stderr.close(0)
		return nil, err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.stdin.write(stdin)
	}()
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // its state says how it ended
		processgroup.Kill(cmd.Process)
		p.stdout.line = p.heardLast
		p.stdout.finish()
		p.stderr.close(p.delay)
		p.stdin.close()
		<-written
		p.fail()
	}()
	return p, nil
}

// begin asks the process for a run. It returns nil if it has ended.
func (p *process) begin(ctx context.Context, run *executor.Run) *call {
	p.mu.Lock()
	if p.calls == nil || p.why != "" {
		p.mu.Unlock()
		return nil
	}
	p.last++
	c := &call{
		id: strconv.Itoa(p.last), run: run, log: run.Log(), stdout: run.Stdout(), stderr: run.Stderr(),
		starts: make(chan *message, maxUnanswered), answer: make(chan answer, 1),
	}
	if len(p.calls) == 0 {
		p.tail = nil // of other runs
	}
	p.calls[c.id] = c
	p.mu.Unlock()
	deadline, _ := ctx.Deadline()
	p.stdin.send(messageOf(run, c.id, deadline))
	return c
}

// shutdown asks the process to end, and kills it after a while. It returns when it has ended.
func (p *process) shutdown(within time.Duration) {
	p.stdin.send(control{Type: typeShutdown})
	p.stdin.close()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.log.Warn("worker process does not end, and is killed", "after", within)
		p.kill(fmt.Sprintf("it did not end within %s", within))
		<-p.ended
	}
}

// kill kills the process and its group.
func (p *process) kill(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls != nil && p.why == "" {
		p.why = why
		processgroup.Kill(p.cmd.Process)
	}
}

// usable reports whether the process takes runs.
func (p *process) usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls != nil && p.why == ""
}

// fail fails what is left of the runs.
func (p *process) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.cmd.ProcessState.String()
	if p.why != "" {
		text = "it was killed: " + p.why
	}
	if len(p.tail) > 0 {
		text += "\nIts last lines on standard error:\n" + strings.Join(p.tail, "\n")
	}
	p.err = errors.New(text)
	for _, c := range p.calls {
		c.answer <- answer{err: fmt.Errorf("the worker process ended: %s", text)}
	}
	p.calls = nil
	p.greetLocked(greeting{err: fmt.Errorf("it ended before it had registered: %s", text)})
}

// greetLocked passes the first message on.
func (p *process) greetLocked(s greeting) {
	if !p.spoken {
		p.spoken = true
		p.greeting <- s
	}
}

// only returns the run that the process has, if it is one; nil otherwise.
func (p *process) only() *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) == 1 {
		for _, c := range p.calls {
			return c
		}
	}
	return nil
}

// call returns a run by its id; nil when there is none.
func (p *process) call(id string) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[id]
}

// masked returns a text without the secrets of the runs that the process has.
func (p *process) masked(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		text = c.run.Mask(text)
	}
	return text
}

// printed takes a line of standard error.
func (p *process) printed(line, _ []byte) {
	text := p.masked(string(line))
	p.mu.Lock()
	p.tail = append(p.tail, excerpt(text))
	p.tail = p.tail[max(0, len(p.tail)-tailLines):]
	p.mu.Unlock()
	if c := p.only(); c != nil {
		writeLine(c.stderr, line)
		return
	}
	p.log.Info("worker process printed", "text", text)
}

func writeLine(w io.Writer, line []byte) {
	_, _ = w.Write(append(bytes.Clone(line), '\n')) // a run's log has no errors
}

// errTooLong says that a message is longer than a line may be.
var errTooLong = errors.New("its message has more than 1 MiB, the most of one line")

// receive takes a line of standard output, and the end of one that is too long.
func (p *process) receive(line, end []byte) {
	line = bytes.TrimSpace(line)
	long := end != nil
	if len(line) == 0 {
		return
	}
	if line[0] != '{' && !long {
		p.stray(line)
		return
	}
	var m message
	err := errTooLong
	if !long {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		p.unreadable(line, end, err)
		return
	}
	p.take(&m)
}

// heardLast takes a line that has no end, because the process has ended. A message that is not whole
// is none: its run fails with the process.
func (p *process) heardLast(line, end []byte) {
	if line = bytes.TrimSpace(line); end == nil && (!bytes.HasPrefix(line, []byte("{")) || json.Valid(line)) {
		p.receive(line, end)
		return
	}
	p.warn(p.only(), "worker process ended within a message", "text", excerpt(p.masked(string(line))))
}

// stray takes a line that is no message.
func (p *process) stray(line []byte) {
	if c := p.only(); c != nil {
		writeLine(c.stdout, line)
		return
	}
	p.log.Warn("worker process printed a line that is no message", "text", excerpt(p.masked(string(line))))
}

// unreadable takes what begins as a message, and is none. A run whose end it is must not wait
// for it forever.
func (p *process) unreadable(line, end []byte, err error) {
	long := end != nil
	kind, id := peek(line, end)
	c := p.call(id)
	if long && id == "" { // it may be in what was left out
		c = p.only()
	}
	switch {
	case c != nil && kind == typeResult:
		if long {
			err = errors.New(reason.Join(err.Error(), reason.StoreElsewhere.String()))
		}
		p.finish(c, answer{result: leftOut{err}})
	case c != nil && kind == typeError:
		p.finish(c, answer{err: fmt.Errorf("the worker process said error, with a message that cannot be read: %w", err)})
	case c != nil && kind == typeStart:
		p.refuse(c, nil, job.Invalid("", "the message cannot be read: %v", err))
	case !long && !json.Valid(line):
		p.stray(line)
	default:
		p.warn(cmp.Or(c, p.only()), "worker process sent a message that cannot be read", "error", err, "text", excerpt(p.masked(string(line))))
	}
}

// warn says in the executor's log what is wrong with a message, and in that of the run c unless
// it is nil.
func (p *process) warn(c *call, text string, about ...any) {
	p.log.Warn(text, about...) //nolint:sloglint // the callers have constants
	if c != nil {
		c.log.Warn(text, about...) //nolint:sloglint // the same
	}
}

// excerpt returns the beginning of a text, for a log.
func excerpt(text string) string {
	return clip.Text(strings.ToValidUTF8(text, "\uFFFD"), tailText)
}
