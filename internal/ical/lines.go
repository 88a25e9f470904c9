package ical

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// line is one property, put together where it was folded.
type line struct {
	number int // of its first line in the file
	name   string
	params map[string]string
	value  string
}

// wrong returns what is the matter with a line.
func wrong(number int, format string, args ...any) error {
	return &job.InvalidError{Field: fmt.Sprintf("line %d", number), Reason: fmt.Sprintf(format, args...)}
}

// read takes a file apart into its lines.
func read(data []byte) ([]line, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var lines []line
	var text strings.Builder
	first := 0 // number of the line that text began on; 0: none
	flush := func() error {
		if first == 0 {
			return nil
		}
		l, err := parseLine(first, text.String())
		lines = append(lines, l)
		return err
	}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		raw = bytes.TrimRight(raw, "\r\n")
		switch {
		case !utf8.Valid(raw):
			return nil, wrong(number, "is not UTF-8; save the file in that encoding")
		case len(raw) == 0:
			continue
		case raw[0] == ' ' || raw[0] == '\t':
			if first == 0 {
				return nil, wrong(number, "goes on with a line that there is not")
			}
			text.Write(raw[1:])
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		first = number
		text.Reset()
		text.Write(raw)
	}
	return lines, flush()
}

// parseLine reads NAME;PARAM=VALUE;PARAM="VALUE":VALUE.
func parseLine(number int, text string) (line, error) {
	l := line{number: number, params: map[string]string{}}
	quoted := false
	start := 0 // of the part that is being read
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted || c != ';' && c != ':':
		default:
			part := text[start:i]
			if start == 0 {
				l.name = strings.ToUpper(part)
			} else {
				name, value, ok := strings.Cut(part, "=")
				if !ok {
					return l, wrong(number, "has the parameter %q without a value", clip.Runes(part, maxQuoted))
				}
				l.params[strings.ToUpper(name)] = strings.Trim(value, `"`)
			}
			if start = i + 1; c == ':' {
				l.value = text[start:]
				return l, l.checkName()
			}
		}
	}
	return l, wrong(number, "is no property, which is like NAME:VALUE: %q", clip.Runes(text, maxQuoted))
}

func (l *line) checkName() error {
	for _, c := range l.name {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return wrong(l.number, "is no property, which is like NAME:VALUE: %q", clip.Runes(l.name, maxQuoted))
		}
	}
	if l.name == "" {
		return wrong(l.number, "has no name before its colon")
	}
	return nil
}

// text returns the value as it is meant for people.
func (l *line) text() string {
	return strings.TrimSpace(strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(l.value))
}
