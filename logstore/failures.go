package logstore

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of lists of failures.
const (
	DefaultFailures = 20
	MaxFailures     = 500
	// FailureJobs is how many jobs a failure names at most.
	FailureJobs = 10
)

// FailureFilter selects attempts that failed, timed out or were lost.
type FailureFilter struct {
	From, To time.Time // fire time in [From, To)
	Jobs     []job.Name
	Group    string
	Groups   []string // one of these executor groups; nil is any
	// Statuses are some of those of a failure; nil is all three.
	Statuses   []job.Status
	Causes     []job.Cause // nil is any
	Instance   string
	Version    int // of the job; 0 is any
	MinAttempt int // only attempts from this one on
	Limit      int // from 1 to MaxFailures; defaults to DefaultFailures
}

var failed = []job.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost}

// Runs returns the filter of the attempts that f selects.
func (f *FailureFilter) Runs() RunFilter {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = failed
	}
	return RunFilter{
		From: f.From, To: f.To, Jobs: f.Jobs, Group: f.Group, Groups: f.Groups, Statuses: statuses,
		Causes: f.Causes, Instance: f.Instance, Version: f.Version, MinAttempt: f.MinAttempt, AllAttempts: true,
	}
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *FailureFilter) Validate() error {
	if f.Limit < 0 || f.Limit > MaxFailures {
		return job.Invalid("limit", "must be from 1 to %d", MaxFailures)
	}
	if err := checkRange(f.From, f.To); err != nil {
		return err
	}
	for _, s := range f.Statuses {
		if !slices.Contains(failed, s) {
			return job.Invalid("status", "%q must be one of %v", s, failed)
		}
	}
	runs := f.Runs()
	return runs.Validate()
}

// Variable is a pattern of what differs between messages of one cause: ids, addresses,
// numbers. RE2 syntax, as stores have it too.
const Variable = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]+|\b[0-9a-fA-F]{16,}\b|[0-9]+([.:][0-9]+)*`

// FingerprintLength is how many characters of a message's first line count.
const FingerprintLength = 200

var variable = regexp.MustCompile(Variable)

// Fingerprint returns the first line of a message, with # for what varies.
func Fingerprint(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	if runes := []rune(line); len(runes) > FingerprintLength {
		line = string(runes[:FingerprintLength])
	}
	return variable.ReplaceAllString(line, "#")
}
