package crontab

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// The outcomes of lines that are wrapped, or not any more.
const (
	Wrapped   Outcome = "wrapped"    // its command reports to a job
	Unwrapped Outcome = "unwrapped"  // it is as it was before it was wrapped
	LeftAlone Outcome = "left alone" // cron runs it, and nothing is reported
)

// MaxCommand is the greatest size of a command that every cron daemon takes, in bytes.
const MaxCommand = 998

// shells are those for which a command can be quoted.
var shells = []string{"sh", "bash", "dash", "ksh", "zsh", "ash", "mksh"}

// aloneMark begins the comment above a line that is left alone.
const aloneMark = "# carillon: not watched: "

// Wrapping says how to wrap the lines of a crontab.
type Wrapping struct {
	Options
	// Program is the absolute path of carillon.
	Program string
	// Host begins the names of new jobs, unless it is empty. It is a slug.
	Host string
	// Grace is how long after its time a line may report. RANDOM_DELAY is added to it.
	Grace time.Duration
	// File names the crontab in descriptions.
	File string
}

// Wrap returns a crontab whose lines run their commands by "carillon watch", and what became of each line.
// All other bytes stay as they are. Lines that are wrapped already keep the names of their jobs, so that a
// second call returns the same bytes. Command and environment are not among what the jobs have: they hold
// passwords. The error is an *InvalidError, as that of [Import], or if two lines report to one job.
func Wrap(ctx context.Context, data []byte, w Wrapping) (text []byte, lines []Line, err error) {
	if err := w.validate(withoutMark(data)); err != nil {
		return nil, nil, err
	}
	wr := &wrapper{Wrapping: w, reader: &reader{options: w.Options, names: newNames(), zone: w.Zone}}
	if err := wr.claimWrapped(data); err != nil {
		return nil, nil, err
	}
	number := 0
	for raw := range bytes.Lines(data) {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		number++
		wr.line(number, string(raw))
	}
	return wr.out.Bytes(), wr.lines, nil
}

// wrapper goes through a crontab.
type wrapper struct {
	Wrapping
	*reader

	out   bytes.Buffer
	lines []Line
}

// claimWrapped takes the names that lines have already, before others get new ones.
func (w *wrapper) claimWrapped(data []byte) error {
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		_, _, command, ok := w.split(string(raw))
		if !ok {
			continue
		}
		if name, _, is := unwrapCommand(command); is {
			if other, taken := w.names.claim(string(name), number); taken {
				return job.Invalid("crontab", "line %d reports to job %s, as line %d does; write the command of one of them as it was before", number, name, other)
			}
		}
	}
	return nil
}

// split divides a line at its command. Head, command and tail are the whole line; ok is false if the line has
// no command.
func (w *wrapper) split(raw string) (e entry, head, command string, ok bool) {
	text := trimmed(raw)
	if text == "" || text[0] == '#' || !utf8.ValidString(text) {
		return e, "", "", false
	}
	if _, is := parseSetting(text); is {
		return e, "", "", false
	}
	e, err := parseEntry(text, w.options.System)
	if err != nil {
		return e, "", "", false
	}
	begin := strings.Index(raw, text) + len(text) - len(e.raw)
	return e, raw[:begin], strings.TrimSuffix(raw[begin:], "\n"), true
}

// trimmed returns a line without blanks around it, and without the mark that a file may begin with.
func trimmed(raw string) string {
	return strings.Trim(strings.TrimPrefix(raw, "\ufeff"), " \t\r\n")
}

// line decides what becomes of a line, and writes it.
func (w *wrapper) line(number int, raw string) {
	text := trimmed(raw)
	if strings.HasPrefix(text, aloneMark) {
		return // is written anew, if it still holds
	}
	switch {
	case text == "":
		w.name = ""
		w.out.WriteString(raw)
		return
	case text[0] == '#':
		w.comment(text)
		w.out.WriteString(raw)
		return
	}
	e, head, command, ok := w.split(raw)
	l := Line{Number: number, Text: text}
	if !ok {
		w.read(&l) // which says what is wrong, or sets
		w.out.WriteString(raw)
		if l.Outcome == Setting || l.Outcome == Skipped {
			return // of no interest: they hold as before
		}
		w.lines = append(w.lines, l)
		return
	}
	end := raw[len(strings.TrimSuffix(raw, "\n")):]
	given := w.name
	w.name = ""
	name, original, already := unwrapCommand(command)
	if !already {
		original = command
	} else if inner, err := parseEntry(strings.TrimSuffix(trimmed(head), " ")+" "+strings.TrimLeft(original, blanks), w.options.System); err == nil {
		e = inner
	}
	why := w.whyAlone(e, &name, given, number)
	if why == "" {
		command, why = w.command(name, original)
	}
	if why != "" {
		l.Outcome, l.Note = LeftAlone, why
		w.out.WriteString(aloneMark + why + "\n" + head + original + end)
		w.lines = append(w.lines, l)
		return
	}
	l.Outcome = Wrapped
	l.Job, l.Note = w.watchJob(e, name, number)
	w.out.WriteString(head + command + end)
	w.lines = append(w.lines, l)
}

// whyAlone says why a line cannot be wrapped, or completes the name of its job.
func (w *wrapper) whyAlone(e entry, name *job.Name, given string, number int) string {
	if shell := w.setting(shellSetting); shell != "" && !slices.Contains(shells, path.Base(shell)) {
		return "its SHELL is " + shell + ", for which a command cannot be quoted"
	}
	if fields, _ := cron.WithoutRandom(e.schedule); fields != "@reboot" {
		if _, _, isMacro := cron.Macro(fields); !isMacro {
			if _, err := cron.Parse(fields, 0); err != nil {
				return err.Error()
			}
		}
	}
	if *name != "" {
		return ""
	}
	short := given
	if short == "" {
		short = newNames().derive(e) // free knows the others
	}
	if w.Host != "" {
		short = w.Host + "-" + short
	}
	short = strings.TrimRight(short[:min(len(short), job.MaxSlug)], "-_")
	if err := job.CheckSlug("name", short); err != nil {
		return err.Error()
	}
	*name = w.free(short, number, given != "")
	if *name == "" {
		return fmt.Sprintf("the name %q is used on another line already", short)
	}
	return ""
}

// free takes a name, or one that is like it, "" if a chosen one is taken.
func (w *wrapper) free(short string, number int, chosen bool) job.Name {
	name := w.options.Group + "/" + short
	for again := 2; ; again++ {
		if _, taken := w.names.claim(name, number); !taken {
			return job.Name(name)
		}
		if chosen {
			return ""
		}
		name = w.options.Group + "/" + short + "-" + strconv.Itoa(again)
	}
}

// command returns the command that runs another one, and reports it, or why there can be none.
func (w *wrapper) command(name job.Name, original string) (wrapped, why string) {
	command, input := cutRaw(original)
	wrapped = w.Program + " watch " + string(name) + " -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'" + input
	if len(wrapped) > MaxCommand {
		return "", fmt.Sprintf("its command would have %d bytes, and cron daemons take %d", len(wrapped), MaxCommand)
	}
	return wrapped, ""
}

// cutRaw divides a command as it is written at its first % that means something, without changing a byte.
func cutRaw(s string) (command, input string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '%':
			return s[:i], s[i:]
		case '\\':
			i++ // guards what follows
		}
	}
	return s, ""
}

// unwrapCommand returns the job and the original of a command that [Wrap] has written.
func unwrapCommand(s string) (name job.Name, original string, ok bool) {
	program, rest, found := strings.Cut(s, " watch ")
	if !found || path.Base(program) != "carillon" || strings.ContainsAny(program, " \t'\"") {
		return "", "", false
	}
	word, rest, found := strings.Cut(rest, " -c '")
	name, err := job.ParseName(word)
	if !found || err != nil {
		return "", "", false
	}
	var b strings.Builder
	for {
		part, more, closed := strings.Cut(rest, "'")
		if !closed {
			return "", "", false
		}
		b.WriteString(part)
		if next, isQuote := strings.CutPrefix(more, `\''`); isQuote {
			b.WriteByte('\'')
			rest = next
			continue
		}
		if more != "" && more[0] != '%' {
			return "", "", false
		}
		command, input := cutRaw(b.String())
		return name, command + more, input == ""
	}
}

// watchJob returns the job to which a line reports.
func (w *wrapper) watchJob(e entry, name job.Name, number int) (j job.Job, note string) {
	j.Job = name
	grace := w.Grace
	if minutes, err := strconv.Atoi(w.setting(delaySetting)); err == nil {
		grace += time.Duration(minutes) * time.Minute
	}
	j.Task.Watch = &job.Watch{Grace: job.Duration(min(grace, job.MaxWatchGrace))}
	j.Description = fmt.Sprintf("Line %d of %s", number, w.File)
	if e.user != "" {
		j.Description += ", which cron runs as " + e.user
	}
	fields, random := cron.WithoutRandom(e.schedule)
	var notes []string
	switch {
	case fields == "@reboot":
		notes = append(notes, "without schedule: a run is never missed")
	case len(random) > 0:
		notes = append(notes, "without schedule, since cron chooses the time at random: a run is never missed")
	default:
		j.Schedule = job.Schedule{Cron: fields, Zone: w.zone}
	}
	if err := j.Validate(); err != nil {
		notes = append(notes, firstProblem(err))
	}
	return j, reason.Join(notes...)
}

// Unwrap returns a crontab as it was before [Wrap], and the lines that it changed.
func Unwrap(data []byte, system bool) (text []byte, lines []Line) {
	w := &wrapper{reader: &reader{options: Options{System: system}}}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		if strings.HasPrefix(trimmed(string(raw)), aloneMark) {
			continue
		}
		_, head, command, ok := w.split(string(raw))
		name, original, is := unwrapCommand(command)
		if !ok || !is {
			w.out.Write(raw)
			continue
		}
		l := Line{Number: number, Text: trimmed(string(raw)), Outcome: Unwrapped}
		l.Job.Job = name
		w.lines = append(w.lines, l)
		w.out.WriteString(head + original)
		if bytes.HasSuffix(raw, []byte("\n")) {
			w.out.WriteByte('\n')
		}
	}
	return w.out.Bytes(), w.lines
}
