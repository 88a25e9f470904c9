package executor

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// tailBytes is how much of what a run printed last is kept for the last line of its log.
const tailBytes = 8 << 10

// endParts bounds how many parts of a message are searched for in what a run printed.
const endParts = 20

// tail keeps the end of what a run printed, line by line.
type tail []byte

func (t *tail) add(line string) {
	if len(*t) > 2*tailBytes {
		*t = (*t)[:copy(*t, (*t)[len(*t)-tailBytes:])]
	}
	*t = append(append(*t, line[max(0, len(line)-tailBytes):]...), '\n')
}

// logEnd writes the last line of a log.
func (o outcome) logEnd(g *runLog) {
	g.mu.Lock()
	line := g.tail.endLine(o.status, o.message)
	g.mu.Unlock()
	g.system(bus.LevelError, line)
}

// endLine returns the last line of a log, which says how the run ended and why. It leaves out the
// part of the message that the run has just printed, such as the last line on standard error: a
// search of logs finds each error once.
func (t tail) endLine(status job.Status, message string) string {
	end, message := "the run ended as "+string(status), cut(message)
	for from, part := 0, 0; from < len(message) && part < endParts; part++ {
		if t.has(message[from:]) {
			message = strings.TrimRight(message[:from], ":; ")
			break
		}
		next := strings.IndexAny(message[from:], ":;")
		if next < 0 {
			break
		}
		from += next + 1
		from += len(message[from:]) - len(strings.TrimLeft(message[from:], " "))
	}
	if message == "" {
		return end
	}
	return end + ": " + message
}

// has reports whether a line that the run printed ends with text, from the start of a word on. If
// text was cut, it need not be the end.
func (t tail) has(text string) bool {
	printed, isCut := strings.CutSuffix(text, "…")
	if printed == "" {
		return false
	}
	if !isCut {
		printed += "\n"
	}
	for from := 0; ; from++ {
		i := bytes.Index(t[from:], []byte(printed))
		if i < 0 {
			return false
		}
		from += i
		if before, _ := utf8.DecodeLastRune(t[:from]); before != '_' && !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
	}
}
