package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/firetime"
)

// variablePrefix begins the names of the variables that every run has.
const variablePrefix = "CARILLON_"

// Variables lists the variables that every run has: scripts and programs find them in
// their environment, and an HTTP task's texts may name them.
var Variables = []string{
	"CARILLON_RUN_ID", "CARILLON_JOB", "CARILLON_GROUP", "CARILLON_VERSION", "CARILLON_CAUSE", "CARILLON_FIRE_TIME",
	"CARILLON_ATTEMPT", "CARILLON_DELIVERY", "CARILLON_FENCE", "CARILLON_PARAMS", "CARILLON_INSTANCE", "CARILLON_PARENT_RUN_ID", "CARILLON_STEP",
	"CARILLON_BROADCAST_INDEX", "CARILLON_BROADCAST_TOTAL", "CARILLON_ITEM", "CARILLON_SPLIT",
}

// paramsVariable begins the name of a field of the run's parameters.
const paramsVariable = "params."

// Expand returns text with every ${NAME} replaced by what value says for NAME; $${ is
// a ${ that stays. The error is value's first one, or says that a ${ has no end.
func Expand(text string, value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(before[:len(before)-1] + "${")
			text = after
			continue
		}
		name, rest, found := strings.Cut(after, "}")
		if !found {
			return "", Invalid("", "has ${ without }; write $${ for the characters themselves")
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(before + v)
		text = rest
	}
}

// checkVariable returns an error unless the task's texts may name the variable.
func (t Task) checkVariable(name string) error {
	_, env := t.Env[name]
	_, secret := t.Secrets[name]
	if firetime.Names(name) { // checkFireTime looks at its steps
		return nil
	}
	if env || secret || slices.Contains(Variables, name) || strings.HasPrefix(name, paramsVariable) && len(name) > len(paramsVariable) {
		return nil
	}
	return Invalid("", "names ${%s}, which is neither in env nor in secrets, nor params.FIELD, nor fire_time, nor one of %s", clip.Text(name, maxQuoted), strings.Join(Variables, ", "))
}

// ParamsAt returns parameters with each ${fire_time} in their texts replaced. Names of fields stay.
func ParamsAt(params json.RawMessage, fire time.Time, zone *time.Location) (json.RawMessage, error) {
	return changeTexts(params, func(text string) (string, error) { return firetime.Expand(text, fire, zone) })
}

// LiteralParams returns parameters so that ParamsAt gives them back unchanged.
func LiteralParams(params json.RawMessage) (json.RawMessage, error) {
	return changeTexts(params, func(text string) (string, error) { return firetime.Literal(text), nil })
}

// changeTexts puts f's answer in the place of each text of parameters that may have ${fire_time}.
func changeTexts(params json.RawMessage, f func(string) (string, error)) (json.RawMessage, error) {
	if !firetime.In(string(params)) {
		return params, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.UseNumber() // which keeps each digit
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, Invalid("params", "must be JSON: %v", err)
	}
	value, err := mapTexts(value, f)
	if err != nil {
		return nil, Invalid("params", "%s", reasonOf(err))
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mapTexts returns a JSON value with f's answer in the place of each text.
func mapTexts(value any, f func(string) (string, error)) (_ any, err error) {
	switch v := value.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			if v[i], err = mapTexts(v[i], f); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = mapTexts(v[key], f); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// At returns the task with each ${fire_time} replaced in its command, env, stdin and HTTP request. Those
// of shell and script stay: to a shell, ${ means something else.
func (t Task) At(fire time.Time, zone *time.Location) (Task, error) {
	err := t.mapTexts(func(_, text string, request bool) (string, error) {
		if request { // whose other variables are replaced later, with $${ for what stays
			return firetime.ExpandFirst(text, fire, zone)
		}
		return firetime.Expand(text, fire, zone)
	})
	return t, err
}

// mapTexts puts f's answer in the place of each text that may have ${fire_time}. What others share with t
// stays as it is. The error is f's first, for the field.
func (t *Task) mapTexts(f func(field, text string, request bool) (string, error)) (err error) {
	put := func(text *string, field string, request bool) {
		if err == nil && firetime.In(*text) {
			var value string
			if value, err = f(field, *text, request); err == nil {
				*text = value
			} else {
				err = Invalid(field, "%s", reasonOf(err))
			}
		}
	}
	putAll := func(texts map[string]string, field string, request bool) map[string]string {
		texts = maps.Clone(texts)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			text := texts[name]
			put(&text, fmt.Sprintf(field, clip.Text(name, maxQuoted)), request)
			texts[name] = text
		}
		return texts
	}
	t.Command = slices.Clone(t.Command)
	for i := range t.Command {
		put(&t.Command[i], fmt.Sprintf("task.command[%d]", i), false)
	}
	t.Env = putAll(t.Env, "task.env.%s", false)
	put(&t.Stdin, "task.stdin", false)
	if t.HTTP != nil {
		h := *t.HTTP
		t.HTTP = &h
		put(&h.URL, "task.http.url", true)
		h.Headers = putAll(h.Headers, "task.http.headers[%q]", true)
		put(&h.Body, "task.http.body", true)
		put(&h.Auth.Bearer, "task.http.auth.bearer", true)
		put(&h.Auth.User, "task.http.auth.user", true)
		put(&h.Auth.Password, "task.http.auth.password", true)
	}
	return err
}

// checkFireTime returns an *InvalidError for what is wrong with a ${fire_time} of the job.
func (j Job) checkFireTime() error {
	var errs []error
	if _, err := ParamsAt(j.Params, time.Unix(0, 0), time.UTC); err != nil {
		errs = append(errs, err)
	}
	_, err := j.Task.At(time.Unix(0, 0), time.UTC)
	return errors.Join(append(errs, err)...)
}
