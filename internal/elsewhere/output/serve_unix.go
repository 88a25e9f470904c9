//go:build unix

package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// firstFile is the number of the first file that a reader is given.
const firstFile = 3

// Serve is the reader: it passes on what comes, until nobody can write any more. The files 3 and up are the
// pipes of the streams, then those by which the wrapper asks and hears.
func Serve(streams string) error {
	// The end of a stream ends the reader, and nothing else: the command may write on while it handles a
	// signal itself.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2)
	var to []*os.File
	switch streams {
	case readsOut, readsOne:
		to = []*os.File{os.Stdout}
	case readsErr:
		to = []*os.File{os.Stderr}
	case readsBoth:
		to = []*os.File{os.Stdout, os.Stderr}
	default:
		return fmt.Errorf("%q are no streams", streams)
	}
	closeInherited(firstFile + len(to) + 2)
	kept := &keeper{}
	var all []*stream
	var open sync.WaitGroup
	for i, file := range to {
		from := firstFile + i
		if err := unix.SetNonblock(from, true); err != nil { // so that a read can be interrupted
			return fmt.Errorf("read the output: %w", err)
		}
		unix.CloseOnExec(from)
		s := &stream{from: os.NewFile(uintptr(from), "output"), to: file, kept: kept, drained: make(chan struct{}, 1), ended: make(chan struct{})}
		all = append(all, s)
		open.Go(s.pass)
	}
	next := uintptr(firstFile + len(to))
	answer(os.NewFile(next, "question"), os.NewFile(next+1, "answer"), all, kept)
	open.Wait()
	return nil
}

// answer tells the wrapper once what is kept, when it asks. The wrapper may die instead.
func answer(question io.Reader, to io.WriteCloser, all []*stream, kept *keeper) {
	defer func() { _ = to.Close() }()
	var b [1]byte
	if _, err := question.Read(b[:]); err != nil {
		return
	}
	now := make(chan struct{})
	go func() { // ends with the process, or the wrapper
		defer close(now)
		_, _ = question.Read(b[:])
	}()
	for _, s := range all {
		s.interrupt()
	}
	for _, s := range all {
		select {
		case <-s.drained:
		case <-s.ended:
		case <-now: // nobody reads what is passed on
		}
	}
	_ = writeKept(to, kept.kept()) // the wrapper may have died
}

// stream is one of the two that a command writes.
type stream struct {
	from, to *os.File
	kept     *keeper
	drained  chan struct{} // gets one when the pipe was empty after an interrupt
	ended    chan struct{} // is closed when nobody writes any more, or nobody reads
}

// interrupt makes the stream report when its pipe is empty.
func (s *stream) interrupt() { _ = s.from.SetReadDeadline(time.Unix(1, 0)) }

// pass passes on what comes. When nobody reads it, it stops, and closes the pipe: whoever writes is told.
func (s *stream) pass() {
	defer close(s.ended)
	defer func() { _ = s.from.Close() }()
	buffer := make([]byte, 64<<10)
	asked := false
	for {
		n, err := s.read(buffer, asked)
		if n > 0 {
			s.kept.add(buffer[:n])
			if _, err := s.to.Write(buffer[:n]); err != nil {
				return
			}
			continue
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			asked = true
			_ = s.from.SetReadDeadline(time.Time{})
		case errors.Is(err, syscall.EAGAIN):
			asked = false
			s.drained <- struct{}{}
		default: // the end
			return
		}
	}
}

// read reads what is there. Without now, it waits for it; with now, the error of an empty pipe is EAGAIN.
func (s *stream) read(buffer []byte, now bool) (n int, err error) {
	if !now {
		return s.from.Read(buffer)
	}
	raw, err := s.from.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Read(func(fd uintptr) bool {
		for {
			if n, err = unix.Read(int(fd), buffer); !errors.Is(err, syscall.EINTR) {
				return true
			}
		}
	})
	if err == nil && failed == nil && n == 0 {
		err = io.EOF
	}
	return n, errors.Join(err, failed)
}

// closeInherited closes the files from a number on that the wrapper had inherited, such as the lock of a
// script: the reader may outlive it. Those of this program are closed at exec, which tells them apart.
func closeInherited(from int) {
	entries, _ := filepath.Glob("/dev/fd/*") // the pattern is well-formed
	for _, e := range entries {
		fd, err := strconv.Atoi(filepath.Base(e))
		if err != nil || fd < from {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
