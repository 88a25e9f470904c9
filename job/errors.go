package job

import (
	"errors"
	"fmt"
)

// The kinds of error that callers tell apart, with [errors.Is]. They cross the bus
// and the HTTP API by name.
var (
	ErrInvalid     = errors.New("invalid")     // the input is wrong; an *InvalidError says where
	ErrNotFound    = errors.New("not found")   // no such thing
	ErrConflict    = errors.New("conflict")    // the thing has changed since it was read, or exists already
	ErrStale       = errors.New("stale")       // the caller has lost what it believed to own
	ErrTooMany     = errors.New("too many")    // as many as there may be are there already
	ErrUnavailable = errors.New("unavailable") // a part of the system is away; trying again may help
)

// kinds names the kinds. An error of several is of the first of them.
var kinds = []struct {
	name string
	err  error
}{
	{"invalid", ErrInvalid},
	{"not_found", ErrNotFound},
	{"conflict", ErrConflict},
	{"stale", ErrStale},
	{"too_many", ErrTooMany},
	{"unavailable", ErrUnavailable},
}

// KindOf names the kind of an error, as the bus does. One that has none is unavailable.
func KindOf(err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return "unavailable"
}

// OfKind is the inverse of [KindOf]: it returns the error that a kind is named for.
func OfKind(name string) error {
	for _, k := range kinds {
		if k.name == name {
			return k.err
		}
	}
	return ErrUnavailable
}

// InvalidError says which field of an input is wrong, and what would be right.
type InvalidError struct {
	Field  string // path in the document, such as "schedule.cron"
	Reason string // reads on after the field's name: "must be …", "is not …"
}

func (e *InvalidError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + " " + e.Reason
}

// Is makes every InvalidError an [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// Invalid returns an *InvalidError about a field.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Problems returns every *InvalidError within err, in the order in which they
// were found; nil when there is none.
func Problems(err error) []*InvalidError {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*InvalidError
		for _, e := range many.Unwrap() {
			all = append(all, Problems(e)...)
		}
		return all
	}
	if one, ok := errors.AsType[*InvalidError](err); ok {
		return []*InvalidError{one}
	}
	return nil
}
