package main

import (
	"regexp"
	"strings"
)

// runners are the lines with which test runners, linters and the like end.
var runners = []*regexp.Regexp{
	regexp.MustCompile(`^go test: .*`),                        // of internal/split
	regexp.MustCompile(`^Tests +\d.*`),                        // Vitest
	regexp.MustCompile(`\d+ (?:passed|failed).* in [\d.]+s`),  // pytest
	regexp.MustCompile(`^ℹ (?:pass|fail) \d+`),                // Node
	regexp.MustCompile(`^\[INFO\] Tests run: \d+, [^-]*$`),    // Maven, of its last module
	regexp.MustCompile(`^\d+ passed, \d+ failed, .*`),         // carillon conformance
	regexp.MustCompile(`^ok  \t\S+\t[\d.]+s$|^FAIL\t\S+\t.*`), // go test of one package
	regexp.MustCompile(`^\d+ issues.*`),                       // golangci-lint
}

// closing is what a stage printed last, by the kind of runner, and the list of the stages below it.
type closing struct {
	last  [8]string // by the index in runners
	below []string
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// hear keeps a line of the stage's output if a list should have it.
func (c *closing) hear(line string) {
	if row, is := strings.CutPrefix(line, prefix); is {
		if !strings.HasSuffix(row, " begins") && !strings.HasSuffix(row, " failed") {
			c.below = append(c.below, row)
		}
		return
	}
	plain := strings.TrimSpace(colours.ReplaceAllString(line, ""))
	for i, runner := range runners {
		if found := runner.FindString(plain); found != "" {
			c.last[i] = strings.Join(strings.Fields(found), " ")
		}
	}
}

// lines returns the closing lines in the order of runners, none if the stages below have theirs.
func (c *closing) lines() (lines []string) {
	if len(c.below) > 0 {
		return nil
	}
	for _, line := range c.last {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// perLine passes each whole line of what is written to it on.
type perLine struct {
	each func(line string)
	rest string // the beginning of a line
}

func (p *perLine) Write(text []byte) (int, error) {
	p.rest += string(text)
	for {
		line, rest, whole := strings.Cut(p.rest, "\n")
		if !whole {
			return len(text), nil
		}
		p.each(line)
		p.rest = rest
	}
}
