package crontab

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// MaxFile is the greatest size of a crontab, in bytes.
const MaxFile = 1 << 20

// Outcome says what became of a line.
type Outcome string

// The outcomes.
const (
	Imported Outcome = "imported" // it is a job
	Setting  Outcome = "setting"  // it holds for the jobs below
	Skipped  Outcome = "skipped"  // cron would run it, we do not
	Broken   Outcome = "broken"   // cron would not run it either, or not what is meant
)

// Line is a line that is neither blank nor a comment, and what became of it.
type Line struct {
	Number  int // counts from 1
	Text    string
	Outcome Outcome
	// Note says why a line was skipped or is broken, and what one should know of
	// the others; it may be empty.
	Note string
	// Job is what was made of the line, if it was imported. It is valid.
	Job job.Job
}

// Options says how to read a crontab.
type Options struct {
	// System means that a user is named before each command, as in /etc/crontab.
	System bool
	// Group is the executor group of the jobs, a slug.
	Group string
	// Zone is the time zone of lines before which no CRON_TZ stands. Defaults to UTC.
	Zone string
	// Dir is the working directory of jobs before which no HOME is set. When it is
	// empty, Home is asked.
	Dir string
	// Home returns the home directory of a user, "" the one whose crontab it is. Cron
	// runs a job there. An empty answer, and a nil Home, leaves it to the executor.
	Home func(user string) string
}

// Import reads a crontab. It returns its lines in order, for each what became of it.
// The error is an *InvalidError: the options or the whole file are wrong; or the cause of ctx,
// once that is done.
func Import(ctx context.Context, data []byte, o Options) ([]Line, error) {
	data = withoutMark(data)
	if err := o.validate(data); err != nil {
		return nil, err
	}
	r := &reader{options: o, names: newNames(), zone: o.Zone}
	var lines []Line
	number := 0
	for raw := range bytes.Lines(data) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		number++
		text := strings.Trim(string(raw), " \t\r\n")
		switch {
		case text == "":
			r.name = "" // a name belongs to the line right below it
		case text[0] == '#':
			r.comment(text)
		default:
			l := Line{Number: number, Text: text}
			r.read(&l)
			lines = append(lines, l)
		}
	}
	return lines, nil
}

func (o Options) validate(data []byte) error {
	if len(data) > MaxFile {
		return &job.InvalidError{Field: "crontab", Reason: fmt.Sprintf("has %d bytes; at most %d are read", len(data), MaxFile)}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) { // UTF-16
		return &job.InvalidError{Field: "crontab", Reason: refusal.NotUTF8.String()}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return &job.InvalidError{Field: "crontab", Reason: "has a NUL byte; it must be text"}
	}
	if _, err := cron.LoadZone(o.Zone); err != nil {
		return &job.InvalidError{Field: "zone", Reason: refusal.NoTimeZone.With(o.Zone, "Europe/Berlin")}
	}
	if err := job.CheckSlug("group", o.Group); err != nil {
		return err
	}
	if what := foreign(data, o.System); what != "" {
		return &job.InvalidError{Field: "crontab", Reason: what}
	}
	return nil
}

// withoutMark returns a crontab without the mark with which some editors begin UTF-8.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

// reader is what the lines above say about those below.
type reader struct {
	options  Options
	names    *names
	settings []setting // in order, each name once
	zone     string
	name     string // from a comment, for the next line
}

// comment notes the name that a comment may give to the line below it.
func (r *reader) comment(text string) {
	key, value, ok := strings.Cut(strings.TrimLeft(text, "# \t"), ":")
	if ok && strings.EqualFold(strings.TrimSpace(key), "name") {
		r.name = strings.TrimSpace(value)
	}
}

// read decides what becomes of a line.
func (r *reader) read(l *Line) {
	name := r.name
	r.name = ""
	if !utf8.ValidString(l.Text) { // it would be kept with other characters, and cron runs the bytes
		l.Text, l.Outcome, l.Note = strings.ToValidUTF8(l.Text, "\ufffd"), Broken, refusal.NotUTF8.String()
		return
	}
	if s, ok := parseSetting(l.Text); ok {
		l.Outcome = Setting
		r.set(l, s)
		return
	}
	e, err := parseEntry(l.Text, r.options.System)
	switch {
	case err != nil:
		l.Outcome, l.Note = Broken, err.Error()
	case e.schedule == "@reboot":
		l.Outcome = Skipped
		l.Note = refusal.NoBoot.String()
	default:
		r.add(l, e, name)
	}
}

// add makes a job of an entry, or says why that cannot be.
func (r *reader) add(l *Line, e entry, name string) {
	l.Outcome = Broken
	fields, random := cron.WithoutRandom(e.schedule)
	e.schedule = fields
	_, every, isMacro := cron.Macro(fields)
	if _, err := cron.Parse(fields, 0); err != nil && !isMacro {
		l.Note = err.Error()
		return
	}
	if name == "" {
		name = r.names.derive(e)
	} else if other, taken := r.names.claim(name, l.Number); taken {
		l.Note = refusal.NameTaken.With(name, other)
		return
	}
	j, note := r.jobOf(e, name)
	if err := j.Validate(); err != nil {
		l.Note = firstProblem(err)
		return
	}
	if len(random) > 0 {
		note = reason.Join(refusal.RandomBecomesH.With(strings.Join(random, " "), fields), note)
	}
	if j.Schedule.Kind() == job.KindFixedRate {
		note = reason.Join(refusal.EveryCounted.With(every), note)
	}
	l.Outcome, l.Note, l.Job = Imported, note, j
}

func firstProblem(err error) string {
	if all := job.Problems(err); len(all) > 0 {
		err = all[0]
	}
	return err.Error()
}
