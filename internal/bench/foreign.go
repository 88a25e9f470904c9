package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/carillon-scheduler/carillon/internal/processgroup"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	foreignReady = time.Minute      // how long a foreign executor may take until it is online
	foreignLeave = 15 * time.Second // and until it has ended
)

// foreign are executors that are processes, in whatever language.
type foreign struct {
	cmds  []*exec.Cmd
	ended chan struct{} // holds one value for each that has
}

// startForeign starts a command for each instance, with the settings of "carillon executor", and
// waits until all are online with a handler noop. What they print goes to standard error.
func (w *benchWorld) startForeign(ctx context.Context, command string, instances, slots int) (*foreign, error) {
	f := &foreign{ended: make(chan struct{}, instances)}
	for i := range instances {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // what to measure is the point
		cmd.Env = append(os.Environ(), "CARILLON_GROUP=bench", "CARILLON_NATS="+w.servers[0].ClientURL(), "CARILLON_INSTANCE=bench-"+strconv.Itoa(i),
			"CARILLON_SLOTS="+strconv.Itoa(slots), "CARILLON_GRACE=1s")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		processgroup.Set(cmd)
		cmd.Cancel = func() error { processgroup.Kill(cmd.Process); return nil }
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("start %q: %w", command, err), f.stop(ctx))
		}
		f.cmds = append(f.cmds, cmd)
		go func() {
			_ = cmd.Wait() // how it ends is its own matter
			f.ended <- struct{}{}
		}()
	}
	if err := f.awaitOnline(ctx, w, command); err != nil {
		return nil, errors.Join(err, f.stop(ctx))
	}
	return f, nil
}

// awaitOnline waits until all instances do no-op runs.
func (f *foreign) awaitOnline(ctx context.Context, w *benchWorld, command string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, foreignReady, fmt.Errorf("%q has no instance online after %s that has a handler noop", command, foreignReady))
	defer cancel()
	noop := job.Task{Handler: "noop"}
	return poll(ctx, func() (bool, error) {
		select {
		case <-f.ended:
			f.ended <- struct{}{}
			return false, fmt.Errorf("%q ended before it was online; it must run until SIGTERM, and take CARILLON_GROUP and CARILLON_NATS", command)
		default:
		}
		for i := range f.cmds {
			beat, err := w.conn.Instances().Heartbeat(ctx, "bench", "bench-"+strconv.Itoa(i))
			if err != nil || beat.State != fleet.InstanceOnline || !beat.Can(&noop) {
				return false, nil //nolint:nilerr // it is not there yet
			}
		}
		return true, nil
	})
}

// cpu returns what the processes, and those that they have started, have used. Without any it is 0.
func (f *foreign) cpu() (sum time.Duration) {
	if f == nil {
		return 0
	}
	for _, cmd := range f.cmds {
		if p, err := process.NewProcess(int32(cmd.Process.Pid)); err == nil { //nolint:gosec // an id fits
			sum += cpuOfTree(p)
		}
	}
	return sum
}

func cpuOfTree(p *process.Process) (sum time.Duration) {
	sum = cpuOf(p)
	children, _ := p.Children() // none is an error, too
	for _, c := range children {
		sum += cpuOfTree(c)
	}
	return sum
}

// stop ends the processes that have not been stopped.
func (f *foreign) stop(ctx context.Context) error {
	cmds := f.cmds
	f.cmds = nil
	for _, cmd := range cmds {
		_ = processgroup.Terminate(cmd.Process) // an error says that it has ended
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), foreignLeave)
	defer cancel()
	for range cmds {
		select {
		case <-f.ended: // how is its own matter
		case <-ctx.Done():
			for _, cmd := range cmds {
				processgroup.Kill(cmd.Process)
			}
			return fmt.Errorf("the executor has not ended %s after SIGTERM", foreignLeave)
		}
	}
	return nil
}
