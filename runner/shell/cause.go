package shell

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

const (
	// tailBytes is how much of the end of an output is kept to find out why a program failed.
	tailBytes = 8 << 10
	// maxCause bounds the cause that is told, in bytes.
	maxCause = 500
)

// tail passes on what is written, and keeps the end of it. One goroutine writes, and reads only
// once the program has ended.
type tail struct {
	io.Writer
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p[max(0, len(p)-tailBytes):]...)
	if extra := len(t.end) - tailBytes; extra > 0 {
		t.end = t.end[:copy(t.end, t.end[extra:])]
	}
	return t.Writer.Write(p)
}

var (
	// control are the sequences that colour text at a terminal.
	control = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")
	// complaint matches a line about an error.
	complaint = regexp.MustCompile(`(?i)error|exception|panic:|fatal|fail|refused|denied|cannot|can't|could not|unable|not found|no such|invalid|timed out|caused by`)
	// around is what programs print beside an error: an indented line, a frame of a trace, the
	// heading of one, the echo of "set -x", the version of an interpreter.
	around = regexp.MustCompile(`^\s|^#\d+ |^\++ |^Traceback \(|^Node\.js v\d|^Stack trace:|^goroutine \d+ |^exit status \d+$`)
)

// causeOf returns the line that best explains why a program failed, from the ends of its outputs: the
// last line about an error on standard error, else on standard output, else the last line on standard
// error. It returns "" if there is none.
func causeOf(stderr, stdout []byte) string {
	last, complains := lastLine(stderr)
	if complains {
		return last
	}
	if said, complains := lastLine(stdout); complains {
		return said
	}
	return last
}

// lastLine returns the last line that complains, else the last one that may be a cause.
func lastLine(text []byte) (line string, complains bool) {
	lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
	for _, l := range slices.Backward(lines) {
		said := control.ReplaceAllString(l, "")
		if strings.TrimSpace(said) == "" || around.MatchString(said) {
			continue
		}
		said = clip.Text(strings.TrimSpace(said), maxCause)
		if complaint.MatchString(said) {
			return said, true
		}
		if line == "" {
			line = said
		}
	}
	return line, false
}
