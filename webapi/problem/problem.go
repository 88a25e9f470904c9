package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Conditional marks a conflict as a failed precondition if e had one, unless a server must be upgraded.
func Conditional(e cluster.Edit, err error) error {
	if _, old := errors.AsType[*cluster.UpgradeError](err); old {
		return err
	}
	if errors.Is(err, job.ErrConflict) && (e.IfRevision != 0 || e.IfAbsent) {
		return fmt.Errorf("%w: %w", ErrPrecondition, err)
	}
	return err
}

// StoreAway marks what a log store says as unavailable, unless it is about the
// request.
func StoreAway(err error) error {
	if err == nil || errors.Is(err, job.ErrInvalid) || errors.Is(err, job.ErrNotFound) {
		return err
	}
	return Explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), refusal.StoreSilent.String())
}

// ErrPrecondition marks a conflict that the caller's If-Match or If-None-Match asked
// to be told of.
var ErrPrecondition = errors.New("precondition")

// ErrForbidden means that the caller is signed in, but may not do this.
var ErrForbidden = errors.New("forbidden")

// ErrTooMany means that somebody has as many of something as one user may have.
var ErrTooMany = errors.New("too many")

// ErrGone means that what a request is for was there and was deleted.
var ErrGone = errors.New("gone")

// ErrMethod means that a request comes by a method that what it is for does not take.
var ErrMethod = errors.New("method not allowed")

// KeyInUseError means that a run has a key, and that the request can neither get that run nor reset the key.
type KeyInUseError struct {
	RunID job.RunID
	Text  string
}

func (e *KeyInUseError) Error() string { return e.Text }

// Is makes every KeyInUseError an [errKeyInUse].
func (e *KeyInUseError) Is(target error) bool { return target == errKeyInUse }

var errKeyInUse = errors.New("key in use")

// Later is an error after which a request may be sent again once After is over.
type Later struct {
	Err   error
	After time.Duration
}

func (e *Later) Error() string { return e.Err.Error() }

func (e *Later) Unwrap() error { return e.Err }

// row says what clients are told of one kind of error.
type row struct {
	kind   error
	status int
	code   string
	title  string
}

// table is the one place where errors become statuses and codes. The first row
// whose kind an error is counts.
var table = []row{
	{auth.ErrUnauthenticated, http.StatusUnauthorized, api.CodeUnauthenticated, "Nobody is signed in"},
	{ErrForbidden, http.StatusForbidden, api.CodeForbidden, "Not allowed"},
	{auth.ErrLocked, http.StatusTooManyRequests, api.CodeTooMany, "Too many sign-ins failed"},
	{job.ErrTooMany, http.StatusTooManyRequests, api.CodeTooMany, "Too many at a time"},
	{ErrTooMany, http.StatusTooManyRequests, api.CodeTooMany, "Too many at a time"},
	{auth.ErrInvitation, http.StatusNotFound, api.CodeNotFound, "Not found"},
	{ErrGone, http.StatusGone, api.CodeGone, "Gone"},
	{ErrMethod, http.StatusMethodNotAllowed, api.CodeMethodNotAllowed, "Method not allowed"},
	{ErrPrecondition, http.StatusPreconditionFailed, api.CodePreconditionFailed, "The precondition does not hold"},
	{job.ErrInvalid, http.StatusBadRequest, api.CodeInvalid, "The request is not valid"},
	{job.ErrNotFound, http.StatusNotFound, api.CodeNotFound, "Not found"},
	{errKeyInUse, http.StatusConflict, api.CodeKeyInUse, "The key is in use"},
	{job.ErrConflict, http.StatusConflict, api.CodeConflict, "The request conflicts with the present state"},
	// A shard changed hands while it was asked: asking again finds its new owner.
	{job.ErrStale, http.StatusServiceUnavailable, api.CodeUnavailable, "A part of the system is away"},
	{job.ErrUnavailable, http.StatusServiceUnavailable, api.CodeUnavailable, "A part of the system is away"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, api.CodeUnavailable, "A part of the system is away"},
	{context.Canceled, http.StatusServiceUnavailable, api.CodeUnavailable, "The server stops"},
}

var internal = row{nil, http.StatusInternalServerError, api.CodeInternal, "Internal error"}

// explained is an error with a sentence for the client, where the error's own text
// is not fit for one.
type explained struct {
	err    error
	detail string
}

func (e *explained) Error() string { return e.detail + ": " + e.err.Error() }

func (e *explained) Unwrap() error { return e.err }

// Explain returns err with what clients are told of it; nil stays nil.
func Explain(err error, detail string) error {
	if err == nil {
		return nil
	}
	return &explained{err, detail}
}

// Of returns what a client is told of err. It has no text that did not come
// from us: what NATS or a database says stays in the log.
func Of(err error, requestID string) api.Problem {
	p := of(err, requestID)
	p.Reason = reason.Text(p.Detail)
	if e, ok := errors.AsType[*KeyInUseError](err); ok {
		p.RunID = e.RunID
	}
	return p
}

func of(err error, requestID string) api.Problem {
	r := internal
	for _, candidate := range table {
		if errors.Is(err, candidate.kind) {
			r = candidate
			break
		}
	}
	p := api.Problem{Type: "about:blank", Title: r.title, Status: r.status, Code: r.code, RequestID: requestID}
	if e, ok := errors.AsType[*explained](err); ok {
		p.Detail = e.detail
		return p
	}
	switch r.status {
	case http.StatusBadRequest:
		p.Errors, p.Detail = fieldErrors(err)
	case http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusPreconditionFailed:
		p.Detail = WithoutKind(err.Error(), r.kind)
	case http.StatusUnauthorized, http.StatusForbidden:
		p.Detail = refusal.SignInOrAsk.String()
	case http.StatusTooManyRequests:
		p.Detail = WithoutKind(err.Error(), job.ErrTooMany)
	case http.StatusServiceUnavailable:
		p.Detail = refusal.PartSilent.String()
	default:
		p.Detail = refusal.SeeLog.String()
	}
	return p
}

// fieldErrors lists what is wrong, and says it in one line.
func fieldErrors(err error) (list []api.FieldError, detail string) {
	var text []string
	for _, e := range job.Problems(err) {
		list = append(list, api.FieldError{Field: e.Field, Reason: reason.Text(e.Reason)})
		text = append(text, e.Error())
	}
	if list == nil { // of that kind without an *InvalidError: another version's fault
		return nil, "the request was refused as not valid"
	}
	return list, strings.Join(text, "; ")
}

// WithoutKind cuts the sentinels that %w put in front of a text: the title says it.
func WithoutKind(text string, kind error) string {
	for _, k := range []error{kind, job.ErrConflict, job.ErrTooMany} {
		text = strings.TrimPrefix(text, k.Error()+": ")
	}
	return text
}
