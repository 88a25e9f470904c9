package crontab

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// setting is a line "NAME = value".
type setting struct{ name, value string }

// settingPattern is load_env's idea of one: a name, quoted or without blanks, then =.
var settingPattern = regexp.MustCompile(`^(?:"([^"]*)"|'([^']*)'|([^\s="']+))\s*=\s*(.*)$`)

// parseSetting reads a setting, and reports whether the line is one. Nothing is
// expanded: cron does not either.
func parseSetting(text string) (setting, bool) {
	m := settingPattern.FindStringSubmatch(text)
	if m == nil {
		return setting{}, false
	}
	return setting{name: m[1] + m[2] + m[3], value: unquote(m[4])}, true
}

// unquote takes away a pair of quotes around the whole.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// The settings that mean something to cron itself, and to us.
const (
	shellSetting  = "SHELL"
	homeSetting   = "HOME"
	zoneSetting   = "CRON_TZ"
	localSetting  = "TZ"
	mailSetting   = "MAILTO"
	senderSetting = "MAILFROM"
	delaySetting  = "RANDOM_DELAY"
)

// set takes note of a setting for the lines below.
func (r *reader) set(l *Line, s setting) {
	switch s.name {
	case "":
		l.Outcome, l.Note = Broken, refusal.SettingNoName.String()
		return
	case zoneSetting:
		if zone, line := cutWord(s.value); line != "" {
			l.Outcome, l.Note = Broken, refusal.ZoneOnItsLine.With(zone)
			return
		}
		if _, err := cron.LoadZone(s.value); err != nil {
			l.Outcome, l.Note = Broken, refusal.NoTimeZone.With(s.value, "Europe/Berlin")
			return
		}
		if r.zone = s.value; r.zone == "" {
			r.zone = r.options.Zone
		}
		return
	case mailSetting, senderSetting:
		l.Outcome, l.Note = Skipped, refusal.NothingMailed.String()
		return
	case localSetting:
		l.Note = refusal.OnlyEnvironment.String()
	case delaySetting:
		if n, err := strconv.Atoi(s.value); err != nil || n < 0 || n > int(job.MaxSpread/time.Minute) {
			l.Outcome, l.Note = Broken, refusal.MinutesWrong.With(s.value, int(job.MaxSpread/time.Minute))
			return
		}
		l.Note = refusal.BecomesSpread.String()
	}
	r.settings = slices.DeleteFunc(r.settings, func(old setting) bool { return old.name == s.name })
	r.settings = append(r.settings, s)
}

func (r *reader) setting(name string) string {
	for _, s := range r.settings {
		if s.name == name {
			return s.value
		}
	}
	return ""
}

// jobOf makes the job that an entry stands for, and says what one should know of it.
func (r *reader) jobOf(e entry, name string) (j job.Job, note string) {
	j.Job = job.Name(r.options.Group + "/" + name)
	j.Schedule = job.Schedule{Cron: e.schedule, Zone: r.zone}
	if minutes, err := strconv.Atoi(r.setting(delaySetting)); err == nil {
		j.Schedule.Spread = job.Duration(time.Duration(minutes) * time.Minute)
	}
	shell := r.setting(shellSetting)
	if shell == "" || shell == "/bin/sh" {
		j.Task.Shell = e.command
	} else {
		j.Task.Command = []string{shell, "-c", e.command}
	}
	j.Task.Stdin = e.stdin
	for _, s := range r.settings {
		if s.name == shellSetting || s.name == delaySetting {
			continue
		}
		if j.Task.Env == nil {
			j.Task.Env = map[string]string{}
		}
		j.Task.Env[s.name] = s.value
	}
	var notes []string
	if e.flags != "" {
		notes = append(notes, refusal.CronFlags.With(e.flags))
		if strings.Contains(e.flags, "s") {
			j.Overlap.Policy = job.OverlapSkip
		}
	}
	if e.user != "" {
		j.Description = "Cron ran it as " + e.user
		notes = append(notes, refusal.RunsAsExecutor.With(e.user))
	}
	if j.Task.Dir = r.dir(e.user); j.Task.Dir == "" {
		notes = append(notes, refusal.EmptyDirectory.String())
	}
	return j, reason.Join(notes...)
}

// dir returns where cron would run a job.
func (r *reader) dir(user string) string {
	switch home := r.setting(homeSetting); {
	case home != "":
		return home
	case r.options.Dir != "":
		return r.options.Dir
	case r.options.Home != nil:
		return r.options.Home(user)
	}
	return ""
}
