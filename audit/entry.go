package audit

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/trail"
)

// Filter selects entries. Each field that is set must hold; the zero filter is all.
type Filter struct {
	User      string
	Operation string
	Object    string // a part of it
	Group     string
	Result    trail.Result
	From, To  time.Time // in [From, To)
}

func (f *Filter) selects(e *trail.Entry) bool {
	return (f.User == "" || e.User == f.User) &&
		(f.Operation == "" || e.Operation == f.Operation) &&
		(f.Object == "" || strings.Contains(e.Object, f.Object)) &&
		(f.Group == "" || e.Group == f.Group) &&
		(f.Result == "" || e.Result == f.Result) &&
		(f.From.IsZero() || !e.At.Before(f.From)) &&
		(f.To.IsZero() || e.At.Before(f.To))
}
