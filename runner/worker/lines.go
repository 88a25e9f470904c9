package worker

import "bytes"

// maxLine bounds a line of a process, in bytes.
const maxLine = 1 << 20

// maxEnd is how much is kept of the end of a line that is too long, in bytes.
const maxEnd = 256

// cutter calls line for each line that is written to it. Of one that is longer than maxLine text is
// the beginning, and end the last of what was left out; else end is nil. It is for one goroutine.
type cutter struct {
	line func(text, end []byte)

	rest []byte // the unfinished line
	end  []byte // the last of what was left out of it
}

// Write implements [io.Writer].
func (c *cutter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, found := bytes.Cut(rest, []byte("\n"))
		n := min(len(part), maxLine-len(c.rest))
		c.rest, c.end = append(c.rest, part[:n]...), append(c.end, part[n:]...)
		c.end = append(c.end[:0], c.end[max(0, len(c.end)-maxEnd):]...)
		if found {
			c.emit()
		}
		rest = after
	}
	return len(p), nil
}

// finish takes the last line, which may have no end.
func (c *cutter) finish() {
	if len(c.rest) > 0 {
		c.emit()
	}
}

func (c *cutter) emit() {
	c.line(bytes.TrimSuffix(c.rest, []byte("\r")), c.end)
	c.rest, c.end = c.rest[:0], nil
	if cap(c.rest) > 64<<10 {
		c.rest = nil
	}
}
