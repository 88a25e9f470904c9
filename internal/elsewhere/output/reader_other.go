//go:build !unix

package output

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Reader reads what a command writes. Stdout and Stderr are for the command. They are those of the wrapper
// where nothing is read.
type Reader struct {
	Stdout, Stderr *os.File

	ends []*os.File
	kept keeper
	open sync.WaitGroup
}

// Unread returns what a command gets whose output nobody reads.
func Unread() *Reader { return &Reader{Stdout: os.Stdout, Stderr: os.Stderr} }

// Start starts to read the standard output and error of this process, but for those that are terminals; with
// force, of these too. On an error, Unread is what is left to do.
func Start(_ context.Context, force bool) (*Reader, error) {
	r := Unread()
	for _, stream := range []**os.File{&r.Stdout, &r.Stderr} {
		to := *stream
		if !force && term.IsTerminal(int(to.Fd())) {
			continue
		}
		read, write, err := os.Pipe()
		if err != nil {
			r.Started()
			return nil, fmt.Errorf("read the output: %w", err)
		}
		*stream, r.ends = write, append(r.ends, write)
		r.open.Go(func() { r.pass(read, to) })
	}
	return r, nil
}

func (r *Reader) pass(from, to *os.File) {
	defer func() { _ = from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.kept.add(buffer[:n])
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// Started closes the ends of the command's pipes in this process: the command has its own.
func (r *Reader) Started() {
	for _, f := range r.ends {
		_ = f.Close()
	}
	r.ends = nil
}

// Kept returns what the command has written, once it is passed on, but after limit at the latest.
func (r *Reader) Kept(limit time.Duration) (Kept, error) {
	done := make(chan struct{})
	go func() { // ends with the program
		defer close(done)
		r.open.Wait()
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
	return r.kept.kept(), nil
}

// ReadsOutput reports whether a program with these arguments is a reader: here there is no such process.
func ReadsOutput([]string) (streams string, is bool) { return "", false }

// Serve is the reader: here there is no such process.
func Serve(string) error { return errors.New("the output is read by the wrapper itself") }
