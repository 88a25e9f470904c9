package crontab

import (
	"errors"
	"regexp"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

const blanks = " \t"

// timeField matches a word that is a field of time, and that nobody calls a program.
var timeField = regexp.MustCompile(`^(?:[*?][*?/0-9,-]*|[0-9][0-9*/,#~LW-]*|LW?|(?:` + names3 + `)|(?i:(?:` + names3 + `)(?:[-,](?:` + names3 + `))+))$`)

const names3 = "SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"

// maxQuoted is how much of a command a note quotes, in bytes.
const maxQuoted = 60

// entry is a line that says when and what, before it means anything to us.
type entry struct {
	schedule string // five fields or a macro, also one with an argument
	user     string // system crontabs only
	flags    string // of OpenBSD, such as -ns
	command  string
	stdin    string
	raw      string // command and input as the line has them
}

var (
	// anacron matches a line of an anacrontab: a period, a delay in minutes, and a name.
	anacron = regexp.MustCompile(`^(?:[0-9]+|@[a-z]+)[ \t]+[0-9]+[ \t]+[A-Za-z][A-Za-z0-9_.-]{2,}[ \t]`)
	// cronFlags match what OpenBSD's cron takes before a command.
	cronFlags = regexp.MustCompile(`^(-[nqs]+)[ \t]+(.*)$`)
)

// parseEntry takes a line apart. What the fields say is not looked at.
func parseEntry(text string, system bool) (entry, error) {
	var e entry
	text = strings.TrimPrefix(text, "-") // SUSE: do not log this job's start
	if anacron.MatchString(text) {
		return e, errors.New(refusal.AnacronLine.String())
	}
	fields := 5
	if strings.HasPrefix(text, "@") {
		fields = 1
		if _, _, ok := cron.Macro(text); ok {
			fields = 2
		}
	}
	var parts []string
	rest := text
	for range fields {
		var word string
		if word, rest = cutWord(rest); word == "" {
			return e, errors.New(refusal.FewFields.With(len(parts)))
		}
		parts = append(parts, word)
	}
	e.schedule = strings.Join(parts, " ")
	if sixth, _ := cutWord(rest); fields == 5 && timeField.MatchString(sixth) {
		return e, errors.New(refusal.SixFields.With(quoted(rest)))
	}
	if system {
		if e.user, rest = cutWord(rest); e.user == "" {
			return e, errors.New(refusal.NoUserNoCommand.String())
		}
	}
	if m := cronFlags.FindStringSubmatch(rest); m != nil {
		e.flags, rest = m[1], m[2]
	}
	if rest == "" {
		if system {
			return e, errors.New(refusal.NoCommandAfterUser.String())
		}
		return e, errors.New(refusal.NoCommand.String())
	}
	e.raw = rest
	var ok bool
	e.command, e.stdin, ok = cutInput(rest)
	if !ok || strings.Trim(e.command, blanks) == "" {
		return e, errors.New(refusal.NoCommandBeforeInput.String())
	}
	return e, nil
}

// quoted returns the beginning of a command, up to a semicolon: a reason has none in its parameters.
func quoted(command string) string {
	first, more, _ := strings.Cut(command, ";")
	if more != "" {
		first += "…"
	}
	return clip.Text(first, maxQuoted)
}

// cutWord returns the first word, and the rest without blanks before it.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, blanks)
	end := strings.IndexAny(s, blanks)
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], blanks)
}

// cutInput divides what cron calls the command at its first %, as do_command.c does:
// what follows is standard input, in which each further % ends a line and a last
// line's end is added. A backslash before % takes its meaning away, and vanishes; any
// other backslash stays, and guards the character after it.
func cutInput(s string) (command, stdin string, ok bool) {
	command, input, divided := cutPercent(s)
	if !divided {
		return command, "", command != ""
	}
	var b strings.Builder
	for more := true; more; {
		var line string
		line, input, more = cutPercent(input)
		b.WriteString(line)
		b.WriteByte('\n')
		if more && input == "" {
			break // a % at the very end has ended its line
		}
	}
	return command, b.String(), command != ""
}

// cutPercent returns what comes before and after the first % that means something.
func cutPercent(s string) (before, after string, found bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '%' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", false
}
