package powerjob

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// MaxFile is the greatest size of a file, in bytes.
const MaxFile = 16 << 20

// maxNested is how deep answers and lists may be within each other.
const maxNested = 8

// number is an id or a count. Some answers have ids as text.
type number int64

func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "null" || text == "" {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	*n = number(v)
	if err != nil {
		return noNumberError(data)
	}
	return nil
}

// noNumberError is the value, in JSON, of a field that must be a whole number.
type noNumberError string

func (e noNumberError) Error() string {
	return "must be a whole number, and is " + clip.Text(string(e), maxQuoted)
}

// numberFields are the fields that are whole numbers.
var numberFields = []string{
	"id", "appId", "status", "maxInstanceNum", "instanceTimeLimit", "instanceRetryNum", "taskRetryNum", "maxWfInstanceNum",
	"nodeId", "nodeType", "jobId", "wfId", "from", "to",
}

// find returns the path of a value that is no number where there must be one.
func (e noNumberError) find(value json.RawMessage, path string) string {
	var fields map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(value, &fields) == nil {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if string(fields[name]) == string(e) && slices.Contains(numberFields, name) {
				return path + "." + name
			}
			if found := e.find(fields[name], path+"."+name); found != "" {
				return found
			}
		}
	} else if json.Unmarshal(value, &list) == nil {
		for i, v := range list {
			if found := e.find(v, fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxQuoted is how much of an input an error quotes, in bytes.
const maxQuoted = 80

// word is a value of an enumeration: its name, or the number of one as text.
type word string

func (w *word) UnmarshalJSON(data []byte) error {
	if text := strings.Trim(string(data), `"`); text != "null" {
		*w = word(strings.ToUpper(text))
	}
	return nil
}

// about is what jobs and workflows have both.
type about struct {
	ID                 number          `json:"id"`
	AppID              number          `json:"appId"`
	Enable             *bool           `json:"enable"`
	Status             number          `json:"status"` // 1 enabled, 2 disabled; some answers have it in the place of enable
	TimeExpressionType word            `json:"timeExpressionType"`
	TimeExpression     string          `json:"timeExpression"`
	LifeCycle          json.RawMessage `json:"lifeCycle"`
	NotifyUserIDs      json.RawMessage `json:"notifyUserIds"`
}

// disabled reports whether PowerJob does not fire it.
func (a *about) disabled() bool {
	return a.Enable != nil && !*a.Enable || a.Enable == nil && a.Status == 2
}

type jobInfo struct {
	about
	JobName           string `json:"jobName"`
	JobDescription    string `json:"jobDescription"`
	JobParams         string `json:"jobParams"`
	ExecuteType       word   `json:"executeType"`
	ProcessorType     word   `json:"processorType"`
	ProcessorInfo     string `json:"processorInfo"`
	MaxInstanceNum    number `json:"maxInstanceNum"`
	InstanceTimeLimit number `json:"instanceTimeLimit"` // milliseconds
	InstanceRetryNum  number `json:"instanceRetryNum"`
	TaskRetryNum      number `json:"taskRetryNum"`
	DesignatedWorkers string `json:"designatedWorkers"`
}

type workflowInfo struct {
	about
	WfName           string  `json:"wfName"`
	WfDescription    string  `json:"wfDescription"`
	MaxWfInstanceNum *number `json:"maxWfInstanceNum"`
	PEWorkflowDAG    *graph  `json:"peworkflowDAG"`
	DAG              *graph  `json:"dag"` // in a request to save it
}

type graph struct {
	Nodes []node `json:"nodes"`
	Edges []edge `json:"edges"`
}

type node struct {
	NodeID         number `json:"nodeId"`
	NodeType       number `json:"nodeType"`
	JobID          number `json:"jobId"` // of a nested workflow its id, too
	WfID           number `json:"wfId"`
	NodeName       string `json:"nodeName"`
	NodeParams     string `json:"nodeParams"` // of a decision its script
	Enable         *bool  `json:"enable"`
	SkipWhenFailed *bool  `json:"skipWhenFailed"`
}

type edge struct {
	From     number `json:"from"`
	To       number `json:"to"`
	Property string `json:"property"` // "true" or "false" after a decision
}

// export is what a file has.
type export struct {
	jobs      []jobInfo
	workflows []workflowInfo
}

func wrong(format string, args ...any) error {
	return &job.InvalidError{Field: "file", Reason: fmt.Sprintf(format, args...)}
}

// read returns the jobs and workflows of a file. Its error is an *InvalidError.
func read(data []byte) (export, error) {
	var x export
	switch {
	case len(data) > MaxFile:
		return x, wrong("has more than %d bytes, which are read at most: write some workflows into a file of their own", MaxFile)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return x, wrong("is not UTF-8 but UTF-16, as PowerShell writes with >; use curl -o FILE")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for n, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return x, wrong("is not UTF-8 on line %d; convert it: iconv -f GBK -t UTF-8", n+1)
		}
	}
	values := json.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var value json.RawMessage
		switch err := values.Decode(&value); {
		case errors.Is(err, io.EOF) && n == 1:
			return x, wrong("is empty; write into it what /workflow/fetch and /job/list answer")
		case errors.Is(err, io.EOF):
			return x, nil
		case err != nil:
			at := int(values.InputOffset())
			return x, wrong("is not JSON after line %d: %v", 1+bytes.Count(data[:at], []byte("\n")), err)
		}
		if err := x.add(value, "value "+strconv.Itoa(n), maxNested); err != nil {
			return x, err
		}
	}
}

// add adds what a value is or has within.
func (x *export) add(value json.RawMessage, path string, depth int) error {
	if depth == 0 {
		return wrong("%s: lists are nested too deeply", path)
	}
	if bytes.HasPrefix(value, []byte("[")) {
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return wrong("%s: %v", path, err)
		}
		for i, v := range list {
			if err := x.add(v, fmt.Sprintf("%s[%d]", path, i), depth-1); err != nil {
				return err
			}
		}
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return wrong("%s must be an object or a list, and is %s", path, clip.Text(string(value), maxQuoted))
	}
	switch {
	case has(fields, "wfName"):
		var w workflowInfo
		if err := decode(value, path, &w); err != nil {
			return err
		}
		x.workflows = append(x.workflows, w)
	case has(fields, "jobName"):
		var j jobInfo
		if err := decode(value, path, &j); err != nil {
			return err
		}
		x.jobs = append(x.jobs, j)
	case string(fields["success"]) == "false":
		return wrong("%s is a refusal of PowerJob: %s", path, clip.Text(string(fields["message"]), maxQuoted))
	case has(fields, "data"):
		return x.add(fields["data"], path+".data", depth-1)
	default:
		return wrong("%s is neither a workflow (with wfName) nor a job (with jobName); it has %s", path, clip.Text(strings.Join(slices.Sorted(maps.Keys(fields)), ", "), maxQuoted))
	}
	return nil
}

func has(fields map[string]json.RawMessage, name string) bool {
	_, ok := fields[name]
	return ok
}

// decode reads a value whose fields have the types that PowerJob writes.
func decode(value json.RawMessage, path string, into any) error {
	err := json.Unmarshal(value, into)
	if bad, ok := errors.AsType[noNumberError](err); ok {
		return wrong("%s %v", cmp.Or(bad.find(value, path), path), bad)
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := path
		if bad.Field != "" {
			field += "." + bad.Field
		}
		return wrong("%s is of another type than PowerJob writes: %s", field, bad.Value)
	}
	if err != nil {
		return wrong("%s: %v", path, err)
	}
	return nil
}
