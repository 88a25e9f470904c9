package main

import (
	"regexp"
	"slices"
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

// failures are the lines by which test runners name a test that failed.
var failures = regexp.MustCompile(`^--- FAIL: \S+|^FAIL +(?:browser|unit) .*|^FAILED \S+|^failed {4}\S+|^✖ .*|^\[ERROR\] {3}\S+:\d+.*`)

// maxFailures is how many tests that failed a list has of a stage.
const maxFailures = 20

// closing is what a stage printed last, by the kind of runner, the tests that failed, and the list of the
// stages below it.
type closing struct {
	last   [8]string // by the index in runners
	failed []string
	below  []string
}

// howMany is the error with which a list ends.
var howMany = regexp.MustCompile(`^\d+ of \d+ failed$`)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// hear keeps a line of the stage's output if a list should have it.
func (c *closing) hear(line string) {
	if row, is := strings.CutPrefix(line, prefix); is {
		if !strings.HasSuffix(row, " begins") && !howMany.MatchString(row) {
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
	if found := failures.FindString(plain); found != "" {
		c.failed = append(c.failed, "  "+strings.Join(strings.Fields(found), " "))
	}
}

// failing returns the tests that failed, none if the stages below have theirs.
func (c *closing) failing() []string {
	if len(c.below) > 0 {
		return nil
	}
	all := slices.Compact(c.failed)
	return all[:min(len(all), maxFailures)]
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
