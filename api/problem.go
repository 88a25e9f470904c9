package api

import (
	"errors"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// The codes of a [Problem]: each refusal has one.
const (
	CodeInvalid              = "invalid"
	CodeUnauthenticated      = "unauthenticated"
	CodeForbidden            = "forbidden"
	CodeNotFound             = "not_found"
	CodeGone                 = "gone"
	CodeMethodNotAllowed     = "method_not_allowed"
	CodeConflict             = "conflict"
	CodeKeyInUse             = "key_in_use"
	CodePreconditionFailed   = "precondition_failed"
	CodeTooLarge             = "too_large"
	CodeUnsupportedMediaType = "unsupported_media_type"
	CodeTooMany              = "too_many"
	CodeMisdirected          = "misdirected"
	CodeInternal             = "internal"
	CodeUnavailable          = "unavailable"
)

// Error says what the server said; each field that is wrong has a line of its own.
func (p *Problem) Error() string {
	if len(p.Errors) > 0 {
		var text []string
		for _, e := range p.Errors {
			text = append(text, strings.TrimSpace(e.Field+" "+string(e.Reason)))
		}
		return strings.Join(text, "\n")
	}
	text := p.Detail
	if text == "" {
		text = strings.ToLower(p.Title)
	}
	if p.Code == CodeNotFound && !strings.HasPrefix(text, "not found") {
		text = "not found: " + text
	}
	if p.Code == CodeInternal {
		text += " (request " + p.RequestID + ")"
	}
	return text
}

// ErrDenied means that the server does not know who asks, or that they may not.
var ErrDenied = errors.New("denied")

// Is makes a Problem one of the errors of package job, by its code.
func (p *Problem) Is(target error) bool {
	switch p.Code {
	case CodeInvalid, CodeTooLarge:
		return target == job.ErrInvalid
	case CodeNotFound, CodeGone:
		return target == job.ErrNotFound
	case CodeConflict, CodeKeyInUse, CodePreconditionFailed:
		return target == job.ErrConflict
	case CodeUnavailable:
		return target == job.ErrUnavailable
	case CodeUnauthenticated, CodeForbidden, CodeTooMany:
		return target == ErrDenied
	}
	return false
}
