package worker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
)

// The types of messages. The first four go to the process.
const (
	typeRun      = "run"
	typeCancel   = "cancel"
	typeStarted  = "started"
	typeShutdown = "shutdown"

	typeRegister = "register"
	typeLog      = "log"
	typeProgress = "progress"
	typeStart    = "start"
	typeResult   = "result"
	typeError    = "error"
)

// runMessage asks the process for a run.
type runMessage struct {
	Type        string            `json:"type"`
	ID          string            `json:"id"`
	Handler     string            `json:"handler"`
	RunID       string            `json:"run_id"`
	Job         string            `json:"job"`
	Version     int               `json:"version"`
	Cause       string            `json:"cause"`
	Step        string            `json:"step,omitempty"`
	Attempt     int               `json:"attempt"`
	Delivery    int               `json:"delivery"`
	Fence       uint64            `json:"fence"`
	FireTime    string            `json:"fire_time"`
	Deadline    string            `json:"deadline,omitempty"`
	Params      json.RawMessage   `json:"params"`
	Piece       *piece            `json:"piece,omitempty"`
	Split       bool              `json:"split,omitempty"`
	Secrets     map[string]string `json:"secrets,omitempty"`
	TraceParent string            `json:"traceparent,omitempty"`
}

// piece says which piece of its run an attempt is.
type piece struct {
	Index int             `json:"index"`
	Total int             `json:"total"`
	Item  json.RawMessage `json:"item,omitempty"`
}

// control is a message to the process that is about no run, or ends one.
type control struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// messageOf returns what a process is told of a run, which it must end by deadline unless that is
// zero.
func messageOf(run *executor.Run, id string, deadline time.Time) runMessage {
	t := run.Trigger()
	m := runMessage{
		Type: typeRun, ID: id, Handler: t.Task.Handler, RunID: string(run.ID()), Job: string(run.Job()), Version: t.Version, Cause: string(run.Cause()), Step: run.Step(),
		Attempt: run.Attempt(), Delivery: run.Delivered(), Fence: run.Fence(), FireTime: instant(run.FireTime()), Params: run.Params(), Split: run.Split(),
		TraceParent: run.TraceParent(),
	}
	if !deadline.IsZero() {
		m.Deadline = instant(deadline)
	}
	if len(m.Params) == 0 {
		m.Params = json.RawMessage("null")
	}
	if t.Total > 0 {
		m.Piece = &piece{Index: t.Index, Total: t.Total, Item: run.Item()}
	}
	for variable := range t.Task.Secrets {
		if m.Secrets == nil {
			m.Secrets = map[string]string{}
		}
		m.Secrets[variable] = run.Secret(variable)
	}
	return m
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// encode returns a message as a line.
func encode(m any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil { // its JSON was decoded from JSON
		panic("BUG: " + err.Error())
	}
	return b.Bytes()
}

// message is what a process says.
type message struct {
	Type string `json:"type"`
	ID   runRef `json:"id"`

	registration

	Level string `json:"level"`
	Text  string `json:"text"`

	Percent float64 `json:"percent"`

	Ref     json.RawMessage `json:"ref"`
	Request json.RawMessage `json:"request"`

	Result json.RawMessage `json:"result"`

	Message    string `json:"message"`
	Final      bool   `json:"final"`
	RetryAfter string `json:"retry_after"`
}

// runRef is the id of a run. Some languages make a number of it.
type runRef string

// UnmarshalJSON implements [json.Unmarshaler].
func (r *runRef) UnmarshalJSON(data []byte) error {
	*r = runRef(strings.Trim(string(data), `"`))
	return nil
}

// registration is what a process can do.
type registration struct {
	Slots    int       `json:"slots"`
	Handlers []handler `json:"handlers"`
}

type handler struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Params      json.RawMessage `json:"params_schema"`
	Result      json.RawMessage `json:"result_schema"`
}

// normal returns r with its defaults, in an order that does not depend on the process.
func (r registration) normal() (registration, error) {
	if r.Slots == 0 {
		r.Slots = 1
	}
	if r.Slots < 0 || r.Slots > executor.MaxSlots {
		return r, fmt.Errorf("slots %d must be between 1 and %d", r.Slots, executor.MaxSlots)
	}
	if len(r.Handlers) == 0 {
		return r, errors.New("it registers no handlers")
	}
	r.Handlers = slices.Clone(r.Handlers)
	slices.SortStableFunc(r.Handlers, func(a, b handler) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.Handlers {
		h := &r.Handlers[i]
		h.Params, h.Result = compact(h.Params), compact(h.Result)
		if i > 0 && h.Name == r.Handlers[i-1].Name {
			return r, fmt.Errorf("it registers handler %q twice", h.Name)
		}
	}
	return r, nil
}

// compact returns JSON without spaces; nil for null.
func compact(data json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(data) == 0 || json.Compact(&b, data) != nil || b.String() == "null" {
		return nil
	}
	return b.Bytes()
}

// differs says in which way a process registers other than r; "" if it does not. Both are normal.
func (r registration) differs(other registration) string {
	if r.Slots != other.Slots {
		return fmt.Sprintf("%d slots, not %d", other.Slots, r.Slots)
	}
	if a, b := r.names(), other.names(); a != b {
		return fmt.Sprintf("the handlers %s, not %s", b, a)
	}
	for i, h := range r.Handlers {
		o := other.Handlers[i]
		if h.Description != o.Description || !bytes.Equal(h.Params, o.Params) || !bytes.Equal(h.Result, o.Result) {
			return "another description or schema of handler " + h.Name
		}
	}
	return ""
}

func (r registration) names() string {
	var names []string
	for _, h := range r.Handlers {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// typed matches a message that has the type of an end somewhere.
var typed = regexp.MustCompile(`"type"\s*:\s*"(result|error)"`)

// peek returns the type and the id of a message that cannot be read to its end. Its type may be behind
// what cannot be read, because some languages sort fields by name: in end, the end of a line that is too
// long, or else in the line. Then the field of an end tells which it is.
func peek(line, end []byte) (kind, id string) {
	behind := ""
	defer func() {
		if typed.Match(end) || end == nil && typed.Match(line) {
			kind = cmp.Or(kind, behind)
		}
	}()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	depth, key := 0, ""
	for {
		token, err := d.Token()
		if err != nil {
			return kind, id
		}
		if delim, ok := token.(json.Delim); ok {
			if key = ""; delim == '{' || delim == '[' {
				depth++
			} else {
				depth--
			}
			continue
		}
		switch {
		case depth != 1:
		case key == "":
			if key = fmt.Sprint(token); key == typeResult {
				behind = typeResult
			} else if key == "message" {
				behind = typeError
			}
			continue
		case key == "type":
			kind = fmt.Sprint(token)
		case key == "id":
			id = fmt.Sprint(token)
		}
		key = ""
	}
}

// leftOut is the result of a run that has one which cannot be passed on.
type leftOut struct{ why error }

// MarshalJSON implements [json.Marshaler]. The executor says that the result was left out, and why.
func (l leftOut) MarshalJSON() ([]byte, error) { return nil, l.why }
