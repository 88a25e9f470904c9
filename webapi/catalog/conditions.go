package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// jobField is something of a job that conditions are about.
type jobField string

// The fields of conditions. Those of time are compared, the others have values.
const (
	fieldGroup    jobField = "group"
	fieldOwner    jobField = "owner"
	fieldTag      jobField = "tag"
	fieldType     jobField = "type"
	fieldHandler  jobField = "handler"
	fieldSchedule jobField = "schedule"
	fieldState    jobField = "state"
	fieldLast     jobField = "last"
	fieldError    jobField = "error"
	fieldFires    jobField = "fires"
	fieldChanged  jobField = "changed"
)

// typeWorkflow is the type of jobs with steps, beside the kinds of their tasks.
const typeWorkflow = "workflow"

// Facets are the fields whose values are counted.
var jobFacets = []jobField{fieldGroup, fieldOwner, fieldTag, fieldType, fieldHandler, fieldSchedule, fieldState, fieldLast, fieldError}

var jobFields = append(slices.Clone(jobFacets), fieldFires, fieldChanged)

// noValue stands for a job without an owner, a tag, a handler or a run, or whose last run did not fail.
const noValue = "none"

// The states of a job.
const (
	stateActive = "active"
	statePaused = "paused"
	stateManual = "manual"
	stateEnded  = "ended" // its schedule has no more fires
	// stateGaveUp is besides [statePaused] of a job that is paused because its runs failed.
	stateGaveUp = "gave_up"
)

// conditionsOf are what a request says of the fields of jobs; all have to hold.
type jobConditions map[jobField]*jobCondition

type jobCondition struct {
	any    []string      // one of these values, if there are some
	none   []string      // none of these
	within time.Duration // of time: ahead, or back
}

// parseConditions reads conditions as FIELD:VALUE; a hyphen before it makes it one that
// must not hold. Of several values of a field one is enough.
func parseConditions(terms []string) (jobConditions, error) {
	conditions := jobConditions{}
	for _, term := range terms {
		positive, not := strings.CutPrefix(term, "-")
		name, value, ok := strings.Cut(positive, ":")
		field := jobField(name)
		if !ok || value == "" || !slices.Contains(jobFields, field) {
			return nil, job.Invalid("where", "%q must be FIELD:VALUE, or -FIELD:VALUE, with a field of %v", term, jobFields)
		}
		c := conditions[field]
		if c == nil {
			c = &jobCondition{}
			conditions[field] = c
		}
		if field == fieldFires || field == fieldChanged {
			within, err := job.ParseDuration(value)
			if err != nil || not || within <= 0 {
				return nil, job.Invalid("where", "%q must be a length of time, such as %s:24h", term, field)
			}
			c.within = within
			continue
		}
		if known := valuesOf(field); known != nil && !slices.Contains(known, value) {
			return nil, job.Invalid("where", "%q must be one of %v", term, known)
		}
		if not {
			c.none = append(c.none, value)
		} else {
			c.any = append(c.any, value)
		}
	}
	return conditions, nil
}

// valuesOf returns the values that a field can have, nil where these are people's own.
func valuesOf(field jobField) []string {
	switch field {
	case fieldType:
		return append([]string{typeWorkflow, job.KindWatch}, job.TaskKinds...)
	case fieldSchedule:
		return []string{string(job.KindCron), string(job.KindEvery), string(job.KindFixedRate), string(job.KindFixedDelay), string(job.KindOnce), string(job.KindManual)}
	case fieldState:
		return []string{stateActive, statePaused, stateGaveUp, stateManual, stateEnded}
	case fieldLast:
		known := []string{noValue}
		for _, s := range job.Statuses {
			known = append(known, string(s))
		}
		return known
	case fieldGroup, fieldOwner, fieldTag, fieldHandler, fieldError, fieldFires, fieldChanged:
	}
	return nil
}

// ask reports whether a condition is about one of the fields.
func (c jobConditions) ask(fields ...jobField) bool {
	return slices.ContainsFunc(fields, func(f jobField) bool { return c[f] != nil })
}

// found is a job of the index with what is known of it besides.
type found struct {
	indexed
	due      int64 // when it fires next, in Unix milliseconds; 0: not by its schedule
	off      bool  // its group is paused for good
	standing logstore.Standing
	cause    string // the fingerprint of the last run's message, if that failed
	message  string
}

// values returns what a job has in a field.
func (f *found) values(field jobField, now int64) []string {
	or := func(s string) []string {
		if s == "" {
			s = noValue
		}
		return []string{s}
	}
	switch field {
	case fieldGroup:
		return []string{f.name.Group()}
	case fieldOwner:
		return or(f.owner)
	case fieldTag:
		if len(f.tags) > 0 {
			return f.tags
		}
		return or("")
	case fieldType:
		return f.types
	case fieldHandler:
		if len(f.handlers) > 0 {
			return f.handlers
		}
		return or("")
	case fieldSchedule:
		return []string{string(f.kind)}
	case fieldState:
		if state := f.state(now); state != statePaused || !f.gaveUp {
			return []string{state}
		}
		return []string{statePaused, stateGaveUp}
	case fieldLast:
		return or(string(f.standing.Status))
	case fieldError:
		return or(f.cause)
	case fieldFires, fieldChanged:
	}
	return nil
}

// fires reports whether a fire is ahead that is not skipped by a pause.
func (f *found) fires() bool { return f.due > 0 && !f.paused && !f.off }

func (f *found) state(now int64) string {
	switch {
	case f.paused || now < f.until:
		return statePaused
	case f.kind == job.KindManual:
		return stateManual
	case f.due == 0 && f.kind != job.KindFixedDelay:
		return stateEnded
	}
	return stateActive
}

// hold reports whether a job meets all conditions. If it fails those of one field only,
// but is that field.
func (c jobConditions) hold(f *found, now int64) (all bool, but jobField) {
	all = true
	for field, condition := range c {
		if condition.holds(f, field, now) {
			continue
		}
		if !all {
			return false, ""
		}
		all, but = false, field
	}
	return all, but
}

func (c *jobCondition) holds(f *found, field jobField, now int64) bool {
	switch field {
	case fieldFires:
		return f.fires() && f.due <= now+c.within.Milliseconds()
	case fieldChanged:
		return f.changed >= now-c.within.Milliseconds()
	case fieldGroup, fieldOwner, fieldTag, fieldType, fieldHandler, fieldSchedule, fieldState, fieldLast, fieldError:
	}
	has := f.values(field, now)
	in := func(wanted []string) bool {
		return slices.ContainsFunc(has, func(v string) bool { return slices.Contains(wanted, v) })
	}
	return (len(c.any) == 0 || in(c.any)) && !in(c.none)
}
