package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The kinds of errors. Ask for them with [errors.Is]; an [Error] has the details.
var (
	// ErrInvalidParams means that the request is not valid. Error.Field names what is wrong.
	ErrInvalidParams = errors.New("invalid params")
	// ErrForbidden means that the token is missing, unknown, or may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that the job or the run does not exist, or that the token may not see it.
	ErrNotFound = errors.New("not found")
	// ErrKeyInUse means that a run of the job has the key: with other parameters or labels, or, for Reset, that it
	// has not ended, or that another user started it. Error.RunID is that run.
	ErrKeyInUse = errors.New("key in use")
	// ErrEnded means that a run cannot be cancelled because it has ended.
	ErrEnded = errors.New("ended")
	// ErrTooMany means that a limit is reached. Error.After is how long to wait, if the server knows.
	ErrTooMany = errors.New("too many")
	// ErrUnavailable means that no server answered, or that a part of the system is away.
	ErrUnavailable = errors.New("unavailable")
)

// Error is what a server answered instead of a result.
type Error struct {
	Status    int           // of HTTP; 0 without an answer
	Code      string        // of the API, such as "invalid"; "" if another program answered
	Message   string        // of the server
	Field     string        // the first invalid field, such as "params.user"; "" if there is none
	After     time.Duration // when to ask again; 0 if unknown
	RequestID string        // under which the server's log has details
	RunID     string        // of an ErrKeyInUse: the run that has the key
	Fields    []string      // of an ErrKeyInUse: those that differ, such as "params"

	date  time.Time // of the answer; zero if unknown
	kind  error
	cause error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the kind of the error, and what the network reported.
func (e *Error) Unwrap() []error {
	var list []error
	for _, err := range []error{e.kind, e.cause} {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// invalid returns the error of an argument, before anything is sent.
func invalid(field, message string) error {
	return &Error{Code: "invalid", Field: field, Message: field + ": " + message, kind: ErrInvalidParams}
}

// unreachable returns the error of a request without a whole answer.
func unreachable(server string, err error) *Error {
	return &Error{Message: fmt.Sprintf("no answer from %s: %v", server, err), kind: ErrUnavailable, cause: err}
}

// kinds are the kinds of errors by the status of the answer. A conflict is one of them only for a cancel, and for
// a key.
var kinds = map[int]error{
	http.StatusBadRequest:         ErrInvalidParams,
	http.StatusUnauthorized:       ErrForbidden,
	http.StatusForbidden:          ErrForbidden,
	http.StatusNotFound:           ErrNotFound,
	http.StatusTooManyRequests:    ErrTooMany,
	http.StatusBadGateway:         ErrUnavailable,
	http.StatusServiceUnavailable: ErrUnavailable,
	http.StatusGatewayTimeout:     ErrUnavailable,
}

// problem returns the error in an answer.
func problem(server string, status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status, kind: kinds[status]}
	if seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 24); err == nil {
		e.After = time.Duration(seconds) * time.Second
	}
	var p struct {
		Code      string
		Title     string
		Detail    string
		RequestID string `json:"request_id"`
		RunID     string `json:"run_id"`
		Reason    struct{ Params struct{ Fields string } }
		Errors    []struct{ Field string }
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if kind != "application/problem+json" || json.Unmarshal(body, &p) != nil || p.Code == "" {
		if e.kind != ErrUnavailable && e.kind != ErrTooMany { //nolint:errorlint // one of the table
			e.kind = nil
		}
		e.Message = fmt.Sprintf("%s answered %s: is a Carillon server listening there?", server, strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status)))
		return e
	}
	e.Code, e.RequestID, e.Message = p.Code, p.RequestID, p.Detail
	if e.Message == "" {
		e.Message = p.Title
	}
	if p.Code == "key_in_use" {
		e.kind, e.RunID = ErrKeyInUse, p.RunID
		if fields := p.Reason.Params.Fields; fields != "" {
			e.Fields = strings.Split(fields, ", ")
		}
	}
	if len(p.Errors) > 0 {
		e.Field = p.Errors[0].Field
	}
	return e
}

// problemIn returns the error of one entry of a batch.
func problemIn(server string, body json.RawMessage) *Error {
	var p struct{ Status int }
	_ = json.Unmarshal(body, &p) // without a status, it is no problem of the API
	return problem(server, p.Status, http.Header{"Content-Type": {"application/problem+json"}}, body)
}
