package executor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Environ returns the variables of the run as NAME=value: those of [job.Variables], and
// the task's env and secrets, whose names come first and so yield.
func (r *Run) Environ() []string {
	vars := r.variables()
	env := make([]string, 0, len(vars)+len(r.trigger.Task.Env)+len(r.secrets))
	for _, name := range slices.Sorted(maps.Keys(r.trigger.Task.Env)) {
		env = append(env, name+"="+r.trigger.Task.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.secrets)) {
		env = append(env, name+"="+r.secrets[name])
	}
	for _, name := range job.Variables {
		env = append(env, name+"="+vars[name])
	}
	if r.traceParent != "" {
		env = append(env, strings.ToUpper(bus.HeaderTrace)+"="+r.traceParent)
	}
	return env
}

// Expand returns text with each ${NAME} replaced: by one of the run's variables, or by a
// field of its parameters when NAME begins with "params.". What takes its place is
// passed through escape first, which may be nil. The error names what is missing.
func (r *Run) Expand(text string, escape func(string) string) (string, error) {
	vars := r.variables()
	maps.Copy(vars, r.trigger.Task.Env)
	maps.Copy(vars, r.secrets)
	return job.Expand(text, func(name string) (string, error) {
		value, known := vars[name]
		if path, isParam := strings.CutPrefix(name, "params."); isParam {
			value, known = paramAt(r.Params(), path)
		}
		if !known {
			return "", fmt.Errorf("the run has no ${%s}", name)
		}
		if escape != nil {
			value = escape(value)
		}
		return value, nil
	})
}

// variables returns what the names in [job.Variables] stand for.
func (r *Run) variables() map[string]string {
	t := r.trigger
	split := ""
	if t.Split {
		split = "true"
	}
	return map[string]string{
		"CARILLON_RUN_ID":          string(t.RunID),
		"CARILLON_JOB":             string(t.Job),
		"CARILLON_GROUP":           t.Job.Group(),
		"CARILLON_VERSION":         strconv.Itoa(t.Version),
		"CARILLON_CAUSE":           string(t.Cause),
		"CARILLON_FIRE_TIME":       t.FireTime.UTC().Format("2006-01-02T15:04:05.000Z"),
		"CARILLON_ATTEMPT":         strconv.Itoa(t.Attempt),
		"CARILLON_DELIVERY":        strconv.Itoa(r.delivered),
		"CARILLON_FENCE":           strconv.FormatUint(r.fence, 10),
		"CARILLON_PARAMS":          string(t.Params),
		"CARILLON_INSTANCE":        r.instance,
		"CARILLON_PARENT_RUN_ID":   string(t.ParentRun),
		"CARILLON_STEP":            t.Step,
		"CARILLON_BROADCAST_INDEX": strconv.Itoa(t.Index),
		"CARILLON_BROADCAST_TOTAL": strconv.Itoa(max(t.Total, 1)),
		"CARILLON_ITEM":            string(t.Item),
		"CARILLON_SPLIT":           split,
	}
}

// Arguments returns what a script gets as arguments: the parameters, as text without
// quotes if they are that and as JSON otherwise; the index and the total of the piece,
// 0 and 1 for a run that is not done in pieces.
func (r *Run) Arguments() []string {
	return []string{plain(r.Params()), strconv.Itoa(r.trigger.Index), strconv.Itoa(max(r.trigger.Total, 1))}
}

// plain returns a JSON text without its quotes, and any other value as it is.
func plain(value json.RawMessage) string {
	var text string
	if len(value) > 0 && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// paramAt returns the field of a JSON object at a path such as "a.b".
func paramAt(params json.RawMessage, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(params, &fields) != nil {
			return "", false
		}
		value, ok := fields[name]
		if !ok {
			return "", false
		}
		params = value
	}
	return plain(params), true
}
