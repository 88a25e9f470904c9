package job

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Keep is how long history is kept: from the fire time on or, of a run that came later
// than its fire, from then. What is zero is as the next wider rule says.
type Keep struct {
	Runs Duration `json:"runs,omitzero"` // with their timelines
	Logs Duration `json:"logs,omitzero"`
}

// Retention says how long the runs and the log lines of each job are kept: as the
// rule for the job says, else that for its group, else the default.
type Retention struct {
	Default Keep            `json:"default"`
	Groups  map[string]Keep `json:"groups,omitempty"`
	Jobs    map[Name]Keep   `json:"jobs,omitempty"`
	// Facts is about what is not of one job.
	Facts KeepFacts `json:"facts,omitzero"`
}

// KeepFacts is how long is kept what happened beside runs, from when it did. What is
// zero is as [KeepFacts.WithDefaults] says.
type KeepFacts struct {
	Audit         Duration `json:"audit,omitzero"`         // who changed what, in the log store
	Alerts        Duration `json:"alerts,omitzero"`        // incidents, and the messages about them
	Discrepancies Duration `json:"discrepancies,omitzero"` // of the ledger, by fire times
}

// WithDefaults returns k with what was left out: the audit is kept for five years, the
// others for 400 days.
func (k KeepFacts) WithDefaults() KeepFacts {
	const day = 24 * time.Hour
	return KeepFacts{
		Audit:         cmp.Or(k.Audit, Duration(MaxKeep)),
		Alerts:        cmp.Or(k.Alerts, Duration(400*day)),
		Discrepancies: cmp.Or(k.Discrepancies, Duration(400*day)),
	}
}

const (
	// MinKeep is the least that a rule may say.
	MinKeep = time.Hour
	// MaxKeep is the most that a rule may say.
	MaxKeep = 1825 * 24 * time.Hour
	// MaxKeepRules bounds the rules of a retention, since a store decides by all of them
	// at once.
	MaxKeepRules = 1000
)

// LogClasses are the classes of retention of log lines, in days. Lines of one day and
// class are stored apart, and dropped at once; a class more costs each day a part more.
var LogClasses = []int{1, 3, 7, 14, 30, 90, 365, 1825}

// Validate returns an *InvalidError for each rule that cannot be kept, joined.
func (r *Retention) Validate() error {
	var errs []error
	check := func(field string, d Duration, optional bool) {
		switch {
		case optional && d == 0:
		case time.Duration(d) < MinKeep || time.Duration(d) > MaxKeep:
			errs = append(errs, &InvalidError{Field: field, Reason: fmt.Sprintf("%s must be from 1h to 1825d", d)})
		}
	}
	check("default.runs", r.Default.Runs, false)
	check("default.logs", r.Default.Logs, false)
	check("facts.audit", r.Facts.Audit, true)
	check("facts.alerts", r.Facts.Alerts, true)
	check("facts.discrepancies", r.Facts.Discrepancies, true)
	for _, group := range slices.Sorted(maps.Keys(r.Groups)) {
		field := "groups." + group
		errs = append(errs, CheckSlug(field, group))
		check(field+".runs", r.Groups[group].Runs, true)
		check(field+".logs", r.Groups[group].Logs, true)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Jobs)) {
		field := "jobs." + string(name)
		if _, err := ParseName(string(name)); err != nil {
			errs = append(errs, &InvalidError{Field: field, Reason: "must be group/name"})
		}
		check(field+".runs", r.Jobs[name].Runs, true)
		check(field+".logs", r.Jobs[name].Logs, true)
	}
	if n := len(r.Groups) + len(r.Jobs); n > MaxKeepRules {
		errs = append(errs, &InvalidError{Field: "groups, jobs", Reason: fmt.Sprintf("have %d rules; at most %d are possible", n, MaxKeepRules)})
	}
	return errors.Join(errs...)
}

// Of returns what holds for a job. It has no zero, if r is valid.
func (r *Retention) Of(name Name) Keep {
	own, group := r.Jobs[name], r.Groups[name.Group()]
	return Keep{
		Runs: cmp.Or(own.Runs, group.Runs, r.Default.Runs),
		Logs: cmp.Or(own.Logs, group.Logs, r.Default.Logs),
	}
}

// OfGroup returns what holds for the jobs of a group that have no rule of their own.
func (r *Retention) OfGroup(group string) Keep {
	rule := r.Groups[group]
	return Keep{Runs: cmp.Or(rule.Runs, r.Default.Runs), Logs: cmp.Or(rule.Logs, r.Default.Logs)}
}

// Bounds returns the shortest and the longest that any rule says.
func (r *Retention) Bounds() (shortest, longest Keep) {
	shortest = Keep{math.MaxInt64, math.MaxInt64}
	add := func(k Keep) {
		shortest = Keep{min(shortest.Runs, k.Runs), min(shortest.Logs, k.Logs)}
		longest = Keep{max(longest.Runs, k.Runs), max(longest.Logs, k.Logs)}
	}
	add(r.Default)
	for group := range r.Groups {
		add(r.OfGroup(group))
	}
	for name := range r.Jobs {
		add(r.Of(name))
	}
	return shortest, longest
}

// LogClass returns the class of a job's lines: the shortest that keeps them long
// enough.
func (r *Retention) LogClass(name Name) int {
	keep := time.Duration(r.Of(name).Logs)
	for _, days := range LogClasses {
		if keep <= time.Duration(days)*24*time.Hour {
			return days
		}
	}
	return LogClasses[len(LogClasses)-1]
}
