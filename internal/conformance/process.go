package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is the executor under test.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // read it then
}

// start starts the executor with its two settings, and what it says in log.
func start(ctx context.Context, command []string, url string, log io.Writer) (*process, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // whom to test is the point
	cmd.Env = append(os.Environ(), "CARILLON_NATS="+url, "CARILLON_GROUP="+group)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the executor: %w", err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// stop sends SIGTERM and returns how the process ended. After a while it is killed.
func (p *process) stop(within time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-timer.C:
		p.kill()
		return fmt.Errorf("it did not end within %s", within)
	}
}

// kill ends the process at once, as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	<-p.ended
}
