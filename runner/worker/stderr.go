package worker

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// stderrPipe reads the standard error of a process. Unlike a pipe of package exec it can be
// emptied at once: what a process has printed there before it says a result belongs to that run.
type stderrPipe struct {
	file  *os.File // to read
	child *os.File // to write
	raw   syscall.RawConn
	ended chan struct{} // closed when all is read

	mu   sync.Mutex
	cut  cutter
	buf  []byte
	over bool
}

func newStderrPipe(line func(text, end []byte)) (*stderrPipe, error) {
	file, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	raw, err := file.SyscallConn()
	if err != nil {
		_, _ = file.Close(), child.Close()
		return nil, err
	}
	return &stderrPipe{file: file, child: child, raw: raw, ended: make(chan struct{}), cut: cutter{line: line}, buf: make([]byte, 32<<10)}, nil
}

// close waits for the end of the pipe, but not for long: a process that has left the group may
// hold it open.
func (s *stderrPipe) close(within time.Duration) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
	_ = s.file.Close() // ends pump
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut.finish()
}
