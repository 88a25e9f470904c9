package worker

import "bytes"

// maxLine bounds a line of a process, in bytes.
const maxLine = 1 << 20

// cutter calls line for each line that is written to it. Of one that is longer than maxLine it
// keeps the beginning, and says so. It is for one goroutine.
type cutter struct {
	line func(text []byte, long bool)

	rest []byte // the unfinished line
	long bool   // more of it was left out
}

// Write implements [io.Writer].
func (c *cutter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, found := bytes.Cut(rest, []byte("\n"))
		n := min(len(part), maxLine-len(c.rest))
		c.rest, c.long = append(c.rest, part[:n]...), c.long || n < len(part)
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
	c.line(bytes.TrimSuffix(c.rest, []byte("\r")), c.long)
	c.rest, c.long = c.rest[:0], false
	if cap(c.rest) > 64<<10 {
		c.rest = nil
	}
}
