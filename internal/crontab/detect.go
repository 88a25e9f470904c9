package crontab

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// accounts are users that systems' crontabs name and that are no programs.
var accounts = []string{"root", "daemon", "nobody", "www-data", "postgres", "mysql", "nginx", "apache", "git", "redis", "smmsp", "munin", "logcheck", "amavis"}

// userColumn is the heading that system crontabs come with.
var userColumn = regexp.MustCompile(`(?i)^#.*\b(dow|day of week|wday)\s+user\b|^#.*\buser(-?name)?\s+command\b`)

// IsSystem guesses whether a crontab names a user before each command: by where it
// is kept, by its heading, or because every line has a well-known account there.
func IsSystem(file string, data []byte) bool {
	if path.Base(path.Dir(file)) == "cron.d" || path.Clean(file) == "/etc/crontab" {
		return true
	}
	entries := 0
	for raw := range bytes.Lines(data) {
		text := strings.Trim(string(raw), " \t\r\n")
		if userColumn.MatchString(text) {
			return true
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if _, ok := parseSetting(text); ok {
			continue
		}
		e, err := parseEntry(text, true)
		if err != nil {
			continue // broken in one way or the other
		}
		if !slices.Contains(accounts, e.user) {
			return false
		}
		entries++
	}
	return entries > 0
}
