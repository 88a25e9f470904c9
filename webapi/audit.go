package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"carillon/audit"
	"carillon/job"
	"carillon/job/rights"
	"carillon/job/trail"
	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// recordTimeout bounds how long the entry of a change may take, which comes after the
// request's own time.
const recordTimeout = 3 * time.Second

type entryKey struct{}

// entryOfChange returns the entry of the change that a request makes, for the handler to
// say more. Of a request that is no change it is one that nobody keeps.
func entryOfChange(ctx context.Context) *trail.Entry {
	if e, ok := ctx.Value(entryKey{}).(*trail.Entry); ok {
		return e
	}
	return &trail.Entry{}
}

// recorded is a middleware that gives each change its entry in the audit log: what
// permits calls a change, if it is made.
func (s *Server) recorded(next StrictHandlerFunc, operation string) StrictHandlerFunc {
	for id, p := range access.Permits {
		// The generated code has operations with a capital.
		if strings.EqualFold(id, operation) && p.Change != "" {
			return s.changing(next, id, p)
		}
	}
	return next
}

func (s *Server) changing(next StrictHandlerFunc, operation string, p access.Permit) StrictHandlerFunc {
	return func(c *fiber.Ctx, request any) (any, error) {
		if c.QueryBool("dry_run") {
			return next(c, request)
		}
		e := newEntry(access.Of(c.UserContext()), operation, objectOf(p.Change, c.AllParams()), c.Params("group"))
		var response any
		err := s.handlers.recordChange(c.UserContext(), e, func(ctx context.Context) (err error) {
			c.SetUserContext(ctx)
			response, err = next(c, request)
			return err
		})
		return response, err
	}
}

// newEntry returns the entry of a change that somebody is about to make.
func newEntry(by *access.Caller, operation, object, group string) *trail.Entry {
	e := &trail.Entry{Operation: operation, Object: object, Group: group, How: "sign-in", Address: by.From.Address, Result: trail.Unknown}
	if by.Who != nil {
		e.User, e.How, e.Token = by.Who.User, string(by.Who.How), by.Who.Token
	}
	return e
}

// recordChange makes a change, whose context has the entry e for it to say more. It is not
// begun unless the entry is sure to be kept; a change that is refused, or none, has no entry.
func (h *handlers) recordChange(ctx context.Context, e *trail.Entry, change func(context.Context) error) error {
	if err := h.audit.Begin(ctx, e); err != nil {
		return problem.Explain(err, "nothing was changed: the audit log does not answer")
	}
	err := guardedChange(context.WithValue(ctx, entryKey{}, e), change)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	switch {
	case err != nil && problem.Of(err, "").Status < http.StatusInternalServerError, err == nil && e.Same:
		h.audit.Drop(after, e)
	case err == nil:
		e.Result = trail.Done
		h.audit.End(after, e)
	default: // it may have been made
		h.audit.End(after, e)
	}
	return err
}

// notSecrets sees all but secrets: what is written down for ever has none.
var notSecrets = rights.List{{Role: rights.Admin, Group: rights.Everywhere, Grants: []rights.Grant{rights.Logs, rights.Params, rights.Scripts}}}

// describe says in the entry of a change what was changed. from and to are the
// documents before and after, nil where there is none; without a change there is no
// entry.
func describe(ctx context.Context, changed bool, note string, from, to any) error {
	e := entryOfChange(ctx)
	e.Same, e.Note = !changed, note
	changes, err := diff(from, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		e.Changes = append(e.Changes, trail.Change{Field: c.Field, From: c.From, To: c.To})
	}
	access.HideEntry(notSecrets, e)
	return nil
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

// objectOf fills a template with what the path names.
func objectOf(template string, names map[string]string) string {
	var pairs []string
	for name, value := range names {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

// ListAudit answers GET /audit.
func (h *handlers) ListAudit(ctx context.Context, r ListAuditRequestObject) (ListAuditResponseObject, error) {
	p := r.Params
	f := audit.Filter{User: p.User, Operation: p.Operation, Object: p.Object, Group: p.Group, Result: trail.Result(p.Result), From: p.From, To: p.To}
	found, err := h.findAudit(ctx, f, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	return ListAudit200JSONResponse(AuditPage{Items: append([]AuditEntry{}, found.entries...), Next: found.next, Since: found.since, AsOf: found.asOf}), nil
}

// serveExport answers GET /audit/export: all entries that match, newest first.
func (h *handlers) serveExport(live context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f := audit.Filter{User: c.Query("user"), Operation: c.Query("operation"), Object: c.Query("object"), Group: c.Query("group"), Result: trail.Result(c.Query("result"))}
		f.From, _ = time.Parse(time.RFC3339, c.Query("from")) // both were checked against the contract
		f.To, _ = time.Parse(time.RFC3339, c.Query("to"))
		var next string
		var first *auditFound
		e := export[trail.Entry]{
			name: "changes",
			page: func(ctx context.Context) (page []trail.Entry, more bool, err error) {
				found, err := h.findAudit(ctx, f, next, exportPage)
				switch {
				case err != nil:
				case first == nil:
					first = &found
				case first.since.IsZero() && !found.since.IsZero(): // which the headers should have said
					return nil, false, fmt.Errorf("%w: the log store went away", job.ErrUnavailable)
				}
				for i := range found.entries {
					access.HideEntry(access.Who(ctx).Access, &found.entries[i])
				}
				next = found.next
				return found.entries, next != "", err
			},
			head: []string{"at", "user", "how", "token", "address", "operation", "object", "group", "result", "note", "changes"},
			row:  auditRow,
			about: func() map[string]string {
				about := map[string]string{}
				for name, at := range map[string]time.Time{headerSince: first.since, headerAsOf: first.asOf} {
					if !at.IsZero() {
						about[name] = cellTime(at)
					}
				}
				return about
			},
		}
		return e.serve(live, c, h.log)
	}
}

// An export has no place for what an AuditPage says in since and as_of, so its headers do.
const (
	headerSince = "Carillon-Since"
	headerAsOf  = "Carillon-As-Of"
)

func auditRow(e *trail.Entry) []string {
	changes, _ := json.Marshal(e.Changes) // which came as JSON
	return []string{
		cellTime(e.At), cellText(e.User), e.How, e.Token, e.Address, e.Operation, cellText(e.Object), e.Group,
		string(e.Result), cellText(e.Note), cellText(string(changes)),
	}
}

// cellText keeps a spreadsheet from taking foreign text for a formula.
func cellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
