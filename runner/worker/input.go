package worker

import (
	"io"
	"sync"
)

// input is the standard input of a process: messages that wait until it reads them. Methods may be
// called concurrently.
type input struct {
	mu     sync.Mutex
	more   *sync.Cond // signalled when lines grows or is closed
	lines  [][]byte   // on their way; at most two for each run
	closed bool       // it ends behind lines
}

func newInput() *input {
	in := &input{}
	in.more = sync.NewCond(&in.mu)
	return in
}

// write writes messages until there will be no more. A process that has ended takes none.
func (in *input) write(stdin io.WriteCloser) {
	defer func() { _ = stdin.Close() }()
	var broken error
	for {
		in.mu.Lock()
		for len(in.lines) == 0 && !in.closed {
			in.more.Wait()
		}
		lines := in.lines
		in.lines = nil
		in.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			if broken == nil {
				_, broken = stdin.Write(line)
			}
		}
	}
}

// send puts a message on its way.
func (in *input) send(m any) {
	line := encode(m)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.lines = append(in.lines, line)
		in.more.Signal()
	}
}

// close ends the input, behind all messages.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.more.Signal()
}
