package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Codes of answers and of ends.
const (
	CodeOK      = 200
	CodeFailed  = 500
	CodeTimeout = 502 // of an end: the run took too long
)

// Answer is what either side answers. The payload is called content in dialect A, and data in the
// others.
type Answer struct {
	Code    int
	Msg     string
	Payload json.RawMessage // nil if there is none
}

// Encode returns the answer as all dialects read it.
func (a Answer) Encode() []byte {
	out := struct {
		Code    int             `json:"code"`
		Msg     *string         `json:"msg"`
		Content json.RawMessage `json:"content"`
		Data    json.RawMessage `json:"data"`
	}{Code: a.Code, Content: a.Payload, Data: a.Payload}
	if a.Msg != "" {
		out.Msg = &a.Msg
	}
	data, err := json.Marshal(out)
	if err != nil {
		panic("BUG: encode answer: " + err.Error()) // the payload is ours
	}
	return data
}

// ReadAnswer reads what an executor has answered. The Go client answers a list where it refuses a
// run: its first element is the answer then. The error is an *InvalidError that quotes what came.
func ReadAnswer(body []byte) (Answer, error) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		return readList(body)
	}
	var in struct {
		Code    *code           `json:"code"`
		Msg     text            `json:"msg"`
		Content json.RawMessage `json:"content"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Code == nil {
		return Answer{}, noAnswer(body)
	}
	payload := in.Data
	if isNull(payload) {
		payload = in.Content
	}
	if isNull(payload) {
		payload = nil
	}
	return Answer{Code: int(*in.Code), Msg: string(in.Msg), Payload: payload}, nil
}

// readList reads an answer that has the form of a callback.
func readList(body []byte) (Answer, error) {
	list, _, err := ReadCallbacks(body)
	if err != nil || len(list) == 0 {
		return Answer{}, noAnswer(body)
	}
	return Answer{Code: list[0].Code, Msg: list[0].Msg}, nil
}

func noAnswer(body []byte) error {
	return &job.InvalidError{Field: "answer", Reason: fmt.Sprintf("%q is none of XXL-JOB: it must be JSON with a code", clip.Text(string(body), 200))}
}
