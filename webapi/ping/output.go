package ping

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// keptHead is how much of the beginning of a long output is kept, in bytes. The rest of [bus.MaxPingOutput] is
// its end.
const keptHead = 8 << 10

// output returns what is kept of the body, and how many bytes are not. A line stands where they were.
func (m *Message) output() (text string, cut int) {
	switch {
	case m.Unread:
		return fmt.Sprintf("[a body of more than %d bytes was not read]\n", MaxBody), MaxBody
	case m.Encoding != "" && !strings.EqualFold(m.Encoding, "identity"):
		return fmt.Sprintf("[%d bytes with Content-Encoding %q were not unpacked]\n", len(m.Body), clip.Text(valid(m.Encoding), 32)), len(m.Body)
	}
	return shorten(valid(string(m.Body)))
}

// shorten returns the first and the last of a text of more than [bus.MaxPingOutput] bytes, with a line in between
// that says how many are cut.
func shorten(text string) (kept string, cut int) {
	if len(text) <= bus.MaxPingOutput {
		return text, 0
	}
	const line = "\n[%d bytes were cut]\n"
	begin, end := keptHead, len(text)-(bus.MaxPingOutput-keptHead-len(fmt.Sprintf(line, len(text))))
	for !utf8.RuneStart(text[begin]) {
		begin--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	cut = end - begin
	return text[:begin] + fmt.Sprintf(line, cut) + text[end:], cut
}
