package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// page is where the rules stand.
const page = "docs/reference/protocol.md"

// Text writes an outcome for people: a line, and for a case that failed what was asked, sent, heard
// and printed.
func (o Outcome) Text(w io.Writer) error {
	switch {
	case o.LeftOut:
		_, err := fmt.Fprintf(w, "left out  %-30s it is slow; add --slow\n", o.Name)
		return err
	case o.Failed == "":
		_, err := fmt.Fprintf(w, "passed    %-30s %s\n", o.Name, o.Took.Round(10*time.Millisecond))
		return err
	}
	_, err := fmt.Fprintf(w, "FAILED    %-30s %s\n%s", o.Name, o.Took.Round(10*time.Millisecond), o.details())
	return err
}

// details says what there is to know of a case that failed.
func (o Outcome) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "    why:   %s\n    rule:  %s (%s)\n    page:  %s#%s\n", o.Failed, o.Rule, o.Level, page, anchor(o.Passage))
	for _, part := range []struct {
		name  string
		lines []string
	}{{"sent", o.Sent}, {"heard", last(o.Heard, 30)}, {"printed", last(strings.Split(strings.TrimSpace(o.Printed), "\n"), 15)}} {
		for _, line := range part.lines {
			fmt.Fprintf(&b, "    %-7s %s\n", part.name+":", line)
		}
	}
	return b.String()
}

func last(lines []string, n int) []string { return lines[max(len(lines)-n, 0):] }

// anchor returns the fragment of a heading.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") }

// JUnit writes outcomes as JUnit's XML, for CI.
func JUnit(w io.Writer, all []Outcome) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Name    string    `xml:"name,attr"`
		Class   string    `xml:"classname,attr"`
		Time    float64   `xml:"time,attr"`
		Failure *failure  `xml:"failure,omitempty"`
		Skipped *struct{} `xml:"skipped,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "carillon conformance", Tests: len(all)}
	for _, o := range all {
		c := testcase{Name: o.Name, Class: "protocol." + anchor(o.Passage), Time: o.Took.Seconds()}
		switch {
		case o.LeftOut:
			c.Skipped = &struct{}{}
			suite.Skipped++
		case o.Failed != "":
			c.Failure = &failure{o.Failed, o.details()}
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
