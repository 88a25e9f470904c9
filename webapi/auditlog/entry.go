package auditlog

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// recordTimeout bounds how long the entry of a change may take, which comes after the
// request's own time.
const recordTimeout = 3 * time.Second

type entryKey struct{}

// Entry returns the entry of the change that a request makes, for the handler to
// say more. Of a request that is no change it is one that nobody keeps.
func Entry(ctx context.Context) *trail.Entry {
	if e, ok := ctx.Value(entryKey{}).(*trail.Entry); ok {
		return e
	}
	return &trail.Entry{}
}

// Unrecorded returns a context for one of several changes that a request makes together: what it
// describes goes into no entry. The request describes all of them with [DescribeFields].
func Unrecorded(ctx context.Context) context.Context {
	return context.WithValue(ctx, entryKey{}, &trail.Entry{})
}

// NewEntry returns the entry of a change that somebody is about to make.
func NewEntry(by *access.Caller, operation, object, group string) *trail.Entry {
	e := &trail.Entry{Operation: operation, Object: object, Group: group, How: "sign-in", Assistant: by.Assistant, Address: by.From.Address, Result: trail.Unknown}
	if by.Who != nil {
		e.User, e.How, e.Token = by.Who.User, string(by.Who.How), by.Who.Token
	}
	return e
}

// Record makes a change, whose context has the entry e for it to say more. It is not
// begun unless the entry is sure to be kept; a change that is refused, or none, has no entry.
func (r *Recorder) Record(ctx context.Context, e *trail.Entry, change func(context.Context) error) error {
	if err := r.audit.Begin(ctx, e); err != nil {
		return problem.Explain(err, refusal.AuditSilent.String())
	}
	err := guardedChange(context.WithValue(ctx, entryKey{}, e), change)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	switch {
	case err != nil && problem.Of(err, "").Status < http.StatusInternalServerError, err == nil && e.Same:
		r.audit.Drop(after, e)
	case err == nil:
		e.Result = trail.Done
		r.audit.End(after, e)
	default: // it may have been made
		r.audit.End(after, e)
	}
	return err
}

// notSecrets sees all but secrets: what is written down for ever has none.
var notSecrets = rights.List{{Role: rights.Admin, Group: rights.Everywhere, Grants: []rights.Grant{rights.Logs, rights.Params, rights.Scripts}}}

// Describe says in the entry of a change what was changed. from and to are the
// documents before and after, nil where there is none; without a change there is no
// entry.
func Describe(ctx context.Context, changed bool, note string, from, to any) error {
	changes, err := Diff(from, to)
	if err == nil {
		DescribeFields(ctx, changed, note, changes)
	}
	return err
}

// DescribeFields is [Describe] of fields that are compared already.
func DescribeFields(ctx context.Context, changed bool, note string, fields []api.FieldChange) {
	e := Entry(ctx)
	e.Same, e.Note = !changed, note
	for _, c := range fields {
		e.Changes = append(e.Changes, trail.Change{Field: c.Field, From: c.From, To: c.To})
	}
	access.HideEntry(notSecrets, e)
}

// guardedChange returns a change's panic as an error, so that the entry gets its end.
func guardedChange(ctx context.Context, change func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = problem.CrashOf(v)
		}
	}()
	return change(ctx)
}

// ObjectOf fills a template with what the path names.
func ObjectOf(template string, names map[string]string) string {
	var pairs []string
	for name, value := range names {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(template)
}
