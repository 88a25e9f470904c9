//go:build !unix

package worker

// pump reads until the end.
func (s *stderrPipe) pump() {
	defer close(s.ended)
	for {
		n, err := s.file.Read(s.buf)
		s.mu.Lock()
		_, _ = s.cut.Write(s.buf[:n]) // has no errors
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// drain does nothing: lines on standard error may come after the result here.
func (s *stderrPipe) drain() {}
