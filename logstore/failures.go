package logstore

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of lists of failures.
const (
	DefaultFailures = 20
	MaxFailures     = 500
	// FailureJobs is how many jobs a failure names at most, and FailureVersions how many
	// versions of one.
	FailureJobs     = 10
	FailureVersions = 10
	// FailureParts is by how many parts of the range failures are counted at most.
	FailureParts = 200
)

// FailureFilter selects attempts that failed, timed out or were lost.
type FailureFilter struct {
	From, To time.Time // fire time in [From, To)
	Jobs     []job.Name
	Group    string
	Groups   []string // as of a [RunFilter]
	// Statuses are some of those of a failure; nil is all three.
	Statuses   []job.Status
	Causes     []job.Cause // nil is any
	Instance   string
	Version    int    // of the job; 0 is any
	MinAttempt int    // only attempts from this one on
	Error      string // the fingerprint of the one to tell of; empty is all
	Parts      int    // of the range, by which to count: from 1 to FailureParts; 0 counts none
	Limit      int    // from 1 to MaxFailures; defaults to DefaultFailures
}

// Failed are the statuses of a failure.
var Failed = []job.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost}

// Runs returns the filter of the attempts that f selects.
func (f *FailureFilter) Runs() RunFilter {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = Failed
	}
	return RunFilter{
		From: f.From, To: f.To, Jobs: f.Jobs, Group: f.Group, Groups: f.Groups, Statuses: statuses,
		Causes: f.Causes, Instance: f.Instance, Version: f.Version, MinAttempt: f.MinAttempt, Error: f.Error, AllAttempts: true,
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
	if f.Parts < 0 || f.Parts > FailureParts {
		return job.Invalid("parts", "must be from 1 to %d", FailureParts)
	}
	if f.To.Sub(f.From) < time.Duration(f.Parts)*time.Millisecond {
		return job.Invalid("to", "must lie at least %d ms after from, one for each part", f.Parts)
	}
	for _, s := range f.Statuses {
		if !slices.Contains(Failed, s) {
			return job.Invalid("status", "%q must be one of %v", s, Failed)
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

// FailureOf returns the fingerprint with which an attempt failed, or nothing if it did not.
func FailureOf(r *runlog.Run) string {
	if !slices.Contains(Failed, r.Status) {
		return ""
	}
	return Fingerprint(cmp.Or(string(r.Message), string(r.Reason), string(r.Status)))
}

var variable = regexp.MustCompile(Variable)

// Fingerprint returns the first line of a message, with # for what varies.
func Fingerprint(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	if runes := []rune(line); len(runes) > FingerprintLength {
		line = string(runes[:FingerprintLength])
	}
	return variable.ReplaceAllString(line, "#")
}
