package demo

import (
	"fmt"
	"time"
)

// say writes a line with the time since the beginning.
func (s *Show) say(format string, args ...any) { s.told("", format, args...) }

// loud writes a line that stands out.
func (s *Show) loud(format string, args ...any) { s.told("\x1b[1;33m", format, args...) }

// told writes a line with the time, in a colour if Out shows any.
func (s *Show) told(colour, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if colour != "" && s.Colour {
		text = colour + text + "\x1b[0m"
	}
	s.line("%6.1f s  %s", time.Since(s.began).Seconds(), text)
}

// line writes a line.
func (s *Show) line(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Out, format+"\n", args...)
}
