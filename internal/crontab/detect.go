package crontab

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// accounts are users that systems' crontabs name and that are no programs. sharers are users whose names
// programs have, too.
var (
	accounts = []string{"root", "daemon", "nobody", "www-data", "postgres", "smmsp", "logcheck", "amavis"}
	sharers  = []string{"mysql", "nginx", "apache", "git", "redis", "munin"}
)

// userColumn is the heading that system crontabs come with.
var userColumn = regexp.MustCompile(`(?i)^#.*\b(dow|day of week|wday)\s+user\b|^#.*\buser(-?name)?\s+command\b`)

// account matches a name that a user may have.
var account = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}\$?$`)

// IsSystem guesses whether a crontab names a user before each command: by where it is kept, by its
// heading, or because every line has there what may be a user, and some a well-known one. The error is an
// *InvalidError: some lines have a well-known user there, and others cannot.
func IsSystem(file string, data []byte) (bool, error) {
	folder := path.Base(path.Dir(path.Clean(file)))
	if folder == "cron.d" || folder == "etc" && path.Base(file) == "crontab" {
		return true, nil
	}
	data = withoutMark(data)
	if foreign(data, false) != "" {
		return false, nil // which Import refuses
	}
	sure, shared, others := 0, 0, 0
	no := "" // a line that names no user
	for raw := range bytes.Lines(data) {
		text := strings.Trim(string(raw), " \t\r\n")
		if userColumn.MatchString(text) {
			return true, nil
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if _, ok := parseSetting(text); ok {
			continue
		}
		e, err := parseEntry(text, true)
		switch {
		case slices.Contains(accounts, e.user):
			sure++
		case err != nil && e.user == "": // broken in one way or the other, such as with six fields
		case err != nil || !account.MatchString(e.user):
			no = text
		case slices.Contains(sharers, e.user):
			shared++
		default:
			others++
		}
	}
	switch {
	case sure > 0 && no != "":
		return false, &job.InvalidError{Field: "system", Reason: refusal.MixedCrontab.With(quoted(no))}
	case sure > 0:
		return true, nil
	}
	return shared > 0 && others == 0 && no == "", nil
}
