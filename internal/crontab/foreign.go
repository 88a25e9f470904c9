package crontab

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// format is what a whole file may be that is no crontab.
type format struct {
	name    string
	pattern *regexp.Regexp // of the file
	command string         // that reads it; empty if its schedules are to be written as jobs
}

const apply = "carillon apply -f FILE"

// formats are tried in this order.
var formats = []format{
	{"iCalendar", regexp.MustCompile(`(?m)^BEGIN:VCALENDAR\b`), "carillon import calendar FILE"},
	{"SQL", regexp.MustCompile(`(?mi)^(?:INSERT INTO|CREATE TABLE) `), "carillon import xxl-job FILE"},
	{"a file of Carillon jobs", regexp.MustCompile(`(?m)^(?:- )?job: *["']?[a-z0-9-]+/[a-z0-9-]+["']? *(?:#.*)?$`), apply},
	{"Kubernetes YAML", regexp.MustCompile(`(?m)^(?:- )? *apiVersion: *\S+\s*$`), "carillon import kubernetes FILE"},
	{"a GitHub Actions workflow", regexp.MustCompile(`(?m)^ *- cron: *["'].*["'] *(?:#.*)?$`), ""},
	{"a systemd unit", regexp.MustCompile(`(?m)^\[(?:Unit|Timer|Service|Install)\]\s*$`), ""},
	{"XML", regexp.MustCompile(`^(?:<\?xml\b|<!DOCTYPE\b|<plist\b|<Task\b)`), ""},
	{"JSON", regexp.MustCompile(`^[{\[]\s*(?:["{}\]]|$)`), ""},
	{"a script", regexp.MustCompile(`^#! ?/`), ""},
}

// foreign says what a file is that has no line of a crontab, and what to do with it. It returns "" if the file
// has one, or if its format is not known.
func foreign(data []byte, system bool) string {
	anacrons, entries := 0, 0
	for raw := range bytes.Lines(data) {
		text := strings.Trim(string(raw), " \t\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		if _, ok := parseSetting(text); ok {
			continue
		}
		entries++
		if anacron.MatchString(strings.TrimPrefix(text, "-")) {
			anacrons++
			continue
		}
		e, err := parseEntry(text, system)
		if err != nil {
			continue
		}
		fields, _ := cron.WithoutRandom(e.schedule)
		if _, _, macro := cron.Macro(fields); macro || strings.HasPrefix(fields, "@") {
			return ""
		}
		if _, err := cron.Parse(fields, 0); err == nil {
			return ""
		}
	}
	if anacrons > 0 && anacrons == entries {
		return refusal.ForeignFormat.With("an anacrontab")
	}
	whole := bytes.TrimLeft(data, " \t\r\n")
	for _, f := range formats {
		switch {
		case !f.pattern.Match(whole):
		case f.command != "":
			return refusal.ForeignFile.With(f.name, f.command)
		default:
			return refusal.ForeignFormat.With(f.name)
		}
	}
	return ""
}
