//go:build unix

package output

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Argument is the one by which this program is started as the reader, with the streams behind it.
const Argument = "--read-output="

// The streams that a reader reads.
const (
	readsOut  = "stdout"
	readsErr  = "stderr"
	readsBoth = "stdout,stderr"
	readsOne  = "stdout+stderr" // which are one file, so that order matters
)

// Reader is the process that reads what a command writes, as its wrapper sees it. Stdout and Stderr are for
// the command. They are those of the wrapper where nothing is read.
type Reader struct {
	Stdout, Stderr *os.File

	ends []*os.File // of pipes, which only the command may have in the end
	ask  *os.File
	hear *os.File
}

// Unread returns what a command gets whose output nobody reads.
func Unread() *Reader { return &Reader{Stdout: os.Stdout, Stderr: os.Stderr} }

// Start starts a reader of the standard output and error of this process, but for those that are terminals;
// with force, of these too. If there is nothing to read, no process is started. On an error, Unread is what
// is left to do.
func Start(ctx context.Context, force bool) (*Reader, error) {
	reads := streamsToRead(force)
	if reads == "" {
		return Unread(), nil
	}
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	r := Unread()
	var theirs []*os.File // of the reader
	pipe := func() (write *os.File) {
		read, write, pipeErr := os.Pipe()
		if pipeErr != nil {
			err = pipeErr
			return nil
		}
		theirs, r.ends = append(theirs, read), append(r.ends, write)
		return write
	}
	if reads != readsErr {
		r.Stdout = pipe()
	}
	switch reads {
	case readsErr, readsBoth:
		r.Stderr = pipe()
	case readsOne:
		r.Stderr = r.Stdout
	}
	if err == nil {
		err = r.connect(ctx, self, reads, &theirs)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		r.Started()
		return nil, fmt.Errorf("start the reader of the output: %w", err)
	}
	return r, nil
}

// connect starts the process, with two more pipes to talk to it.
func (r *Reader) connect(ctx context.Context, self, reads string, theirs *[]*os.File) error {
	question, ask, err := os.Pipe()
	if err != nil {
		return err
	}
	hear, answer, err := os.Pipe()
	if err != nil {
		_, _ = question.Close(), ask.Close()
		return err
	}
	*theirs = append(*theirs, question, answer)
	r.ask, r.hear = ask, hear
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, "watch", Argument+reads) //nolint:gosec // this program; it ends by itself
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, *theirs
	cmd.Dir = "/" // so that no file system stays in use
	cmd.Env = []string{"GOMAXPROCS=2"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_, _ = ask.Close(), hear.Close()
		return err
	}
	return cmd.Process.Release()
}

// Started closes the ends of the command's pipes in this process: the command has its own.
func (r *Reader) Started() {
	for _, f := range r.ends {
		if f != nil {
			_ = f.Close()
		}
	}
	r.ends = nil
}

// Kept returns what the command has written until now, once it is passed on, but after limit at the latest.
// It may be called once.
func (r *Reader) Kept(limit time.Duration) (Kept, error) {
	if r.ask == nil {
		return Kept{}, nil
	}
	defer func() { _, _ = r.ask.Close(), r.hear.Close() }()
	if _, err := r.ask.Write([]byte{askDrained}); err != nil {
		return Kept{}, err
	}
	late := time.AfterFunc(limit, func() { _, _ = r.ask.Write([]byte{askNow}) })
	defer late.Stop()
	_ = r.hear.SetReadDeadline(time.Now().Add(limit + time.Second))
	return readKept(r.hear)
}

func streamsToRead(force bool) string {
	out := force || !term.IsTerminal(int(os.Stdout.Fd()))
	errs := force || !term.IsTerminal(int(os.Stderr.Fd()))
	switch {
	case out && errs && sameFile(os.Stdout, os.Stderr):
		return readsOne
	case out && errs:
		return readsBoth
	case out:
		return readsOut
	case errs:
		return readsErr
	}
	return ""
}

func sameFile(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

// selfPath returns the file of this program, also after an upgrade has replaced it.
func selfPath() (string, error) {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe", nil
		}
	}
	return os.Executable()
}

// ReadsOutput reports whether a program with these arguments, without its name, is a reader.
func ReadsOutput(args []string) (streams string, is bool) {
	if len(args) != 1 {
		return "", false
	}
	return strings.CutPrefix(args[0], Argument)
}
