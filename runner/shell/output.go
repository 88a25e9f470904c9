package shell

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// output copies what a process prints, to the last byte. The pipes of [exec.Cmd] would not do: it closes them
// when [exec.Cmd.WaitDelay] is over, and an executor that has stood still learns that before it reads them.
type output struct {
	ours, theirs []*os.File
	copying      sync.WaitGroup
	copied       chan struct{} // closed when all is copied; nil before the process is started
}

const (
	// lookAgain is for an executor that stood still while the time was over: the output may have ended.
	lookAgain = 100 * time.Millisecond
	// copyFor is how long the rest of the output may take to be copied when those that held it open are dead.
	copyFor = time.Second
)

// connect has what cmd prints copied to two writers.
func (o *output) connect(cmd *exec.Cmd, stdout, stderr io.Writer) error {
	outs, err := o.into(stdout)
	if err != nil {
		return fmt.Errorf("make a pipe for the output: %w", err)
	}
	errs, err := o.into(stderr)
	if err != nil {
		return fmt.Errorf("make a pipe for the output: %w", err)
	}
	cmd.Stdout, cmd.Stderr = outs, errs
	return nil
}

// into returns a file that is copied to w.
func (o *output) into(w io.Writer) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.ours, o.theirs = append(o.ours, ours), append(o.theirs, theirs)
	o.copying.Go(func() { _, _ = io.Copy(w, ours) }) // an error is an end, too
	return theirs, nil
}

// started is to be called when the process has its own files.
func (o *output) started() {
	for _, f := range o.theirs {
		_ = f.Close()
	}
	o.theirs, o.copied = nil, make(chan struct{})
	go func() { o.copying.Wait(); close(o.copied) }()
}

// ends reports whether all processes that had the output have closed it, and all is copied, by an instant.
func (o *output) ends(by time.Time) bool {
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-o.copied:
		return true
	case <-timer.C:
		return false
	}
}

// close ends the copying, wherever it is.
func (o *output) close() {
	for _, f := range append(o.theirs, o.ours...) {
		_ = f.Close()
	}
	o.copying.Wait()
}
