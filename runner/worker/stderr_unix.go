//go:build unix

package worker

import (
	"errors"
	"syscall"
)

// pipeRoom is what a pipe holds, in bytes: what was printed before now is within it.
const pipeRoom = 64 << 10

// pump reads until the end.
func (s *stderrPipe) pump() {
	defer close(s.ended)
	_ = s.raw.Read(func(fd uintptr) bool { // an error says that the file is closed
		for s.readSome(fd) > 0 {
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.over
	})
}

// drain reads what there is, and no more than that: another run may print without end.
func (s *stderrPipe) drain() {
	_ = s.raw.Control(func(fd uintptr) {
		for read := 0; read < pipeRoom; {
			n := s.readSome(fd)
			if n == 0 {
				return
			}
			read += n
		}
	})
}

// readSome reads once, and returns how much; 0 if there is nothing to read.
func (s *stderrPipe) readSome(fd uintptr) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.over {
		n, err := syscall.Read(int(fd), s.buf)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return 0
		case err != nil || n == 0:
			s.over = true
		default:
			_, _ = s.cut.Write(s.buf[:n]) // has no errors
			return n
		}
	}
	return 0
}
