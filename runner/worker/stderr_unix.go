//go:build unix

package worker

import (
	"errors"
	"syscall"
)

// pump reads until the end.
func (s *stderrPipe) pump() {
	defer close(s.ended)
	_ = s.raw.Read(func(fd uintptr) bool { // an error says that the file is closed
		s.mu.Lock()
		defer s.mu.Unlock()
		s.emptyLocked(fd)
		return s.over
	})
}

// drain reads what there is.
func (s *stderrPipe) drain() {
	_ = s.raw.Control(func(fd uintptr) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.emptyLocked(fd)
	})
}

// emptyLocked reads until there is nothing to read.
func (s *stderrPipe) emptyLocked(fd uintptr) {
	for !s.over {
		n, err := syscall.Read(int(fd), s.buf)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return
		case err != nil || n == 0:
			s.over = true
		default:
			_, _ = s.cut.Write(s.buf[:n]) // has no errors
		}
	}
}
