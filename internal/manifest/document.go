package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// Kind says what a document describes. Its text is the key that holds the name.
type Kind string

// The kinds of documents.
const (
	Job      Kind = "job"
	Calendar Kind = "calendar"
	Alert    Kind = "alert"   // a rule for alerts
	Channel  Kind = "channel" // on which alerts are sent
)

// kinds lists them.
var kinds = []Kind{Job, Calendar, Alert, Channel}

// Document is one thing of these kinds as JSON, and where its fields were written.
type Document struct {
	Kind Kind
	Name string // "group/name" of a job, else the name
	JSON []byte
	File string
	Line int // of its first field

	lines map[string]int // by path, such as "schedule.cron" or "dates[2]"
}

// Error is a problem in a file.
type Error struct {
	File   string
	Line   int    // 0 when the problem is the file's as a whole
	Field  string // path in the document; empty for all of it
	Reason string // reads on after the field's name
}

func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	if e.Field == "" {
		return place + ": " + e.Reason
	}
	return place + ": " + e.Field + " " + e.Reason
}

// Is makes every Error a [job.ErrInvalid].
func (e *Error) Is(target error) bool { return target == job.ErrInvalid }

// Problem returns an [Error] about a field of d. A field that was not written is
// placed where the nearest one around it was.
func (d *Document) Problem(field, reason string) *Error {
	return &Error{File: d.File, Line: d.lineOf(field), Field: field, Reason: reason}
}

func (d *Document) lineOf(field string) int {
	for path := field; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if line, ok := d.lines[path]; ok {
			return line
		}
	}
	// An error may name a field without the path to it: an unknown one does.
	found := 0
	for path, line := range d.lines {
		if strings.HasSuffix(path, "."+field) && (found == 0 || line < found) {
			found = line
		}
	}
	if found > 0 {
		return found
	}
	return d.Line
}

// identify fills in Kind and Name from the top-level fields that are text.
func (d *Document) identify(texts map[string]string) error {
	for _, kind := range kinds {
		if _, ok := d.lines[string(kind)]; !ok {
			continue
		}
		name, ok := texts[string(kind)]
		if !ok {
			return d.Problem(string(kind), "must be text")
		}
		d.Kind, d.Name = kind, name
		return d.checkName()
	}
	return d.Problem("", "must be a job, with a field \"job: GROUP/NAME\", or a calendar, a channel or an alert, with a field such as \"calendar: NAME\"")
}

// checkName refuses names that cannot be part of a URL, before one is made of them.
func (d *Document) checkName() error {
	var err error
	if d.Kind == Job {
		_, err = job.ParseName(d.Name)
	} else {
		err = job.CheckSlug(string(d.Kind), d.Name)
	}
	for _, p := range job.Problems(err) {
		return d.Problem(p.Field, p.Reason)
	}
	return nil
}

// checkSize refuses what no server takes.
func (d *Document) checkSize() error {
	if len(d.JSON) > job.MaxDocument {
		return d.Problem("", fmt.Sprintf("the document has %d bytes; a %s may have at most %d", len(d.JSON), d.Kind, job.MaxDocument))
	}
	return nil
}
