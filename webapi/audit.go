package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/audit"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/export"
)

// auditHandlers answer requests about the audit log.
type auditHandlers struct {
	audit *auditlog.Recorder
	users *auth.Directory
	log   *slog.Logger
}

// recorded calls act, and gives a change its entry in the audit log: what access.Permits calls a change,
// if it is made.
func (s *Server) recorded(c *fiber.Ctx, operation string, act func(context.Context) (any, error)) (any, error) {
	p := access.Permits[operation]
	if p.Change == "" || c.QueryBool("dry_run") {
		return act(c.UserContext())
	}
	e := auditlog.NewEntry(access.Of(c.UserContext()), operation, auditlog.ObjectOf(p.Change, c.AllParams()), c.Params("group"))
	var response any
	err := s.audit.Record(c.UserContext(), e, func(ctx context.Context) (err error) {
		response, err = act(ctx)
		return err
	})
	return response, err
}

// ListAuditLog answers GET /audit-log.
func (h *auditHandlers) ListAuditLog(ctx context.Context, r ListAuditLogRequestObject) (*AuditLogPage, error) {
	p := r.Params
	f := audit.Filter{User: p.User, Operation: p.Operation, Object: p.Object, Job: job.Name(p.Job), Group: p.Group, Result: trail.Result(p.Result), From: p.From, To: p.To}
	found, err := h.audit.Find(ctx, f, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	return &AuditLogPage{Items: append([]AuditEntry{}, found.Entries...), Next: found.Next, Since: found.Since, AsOf: found.AsOf}, nil
}

// serveExport answers GET /audit-log/export: all entries that match, newest first.
func (h *auditHandlers) serveExport(live context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f := audit.Filter{User: c.Query("user"), Operation: c.Query("operation"), Object: c.Query("object"), Job: job.Name(c.Query("job")), Group: c.Query("group"), Result: trail.Result(c.Query("result"))}
		f.From, _ = time.Parse(time.RFC3339, c.Query("from")) // both were checked against the contract
		f.To, _ = time.Parse(time.RFC3339, c.Query("to"))
		var next string
		var first *auditlog.Found
		e := export.List[trail.Entry]{
			Name: "changes",
			Page: func(ctx context.Context) (page []trail.Entry, more bool, err error) {
				found, err := h.audit.Find(ctx, f, next, export.PageSize)
				switch {
				case err != nil:
				case first == nil:
					first = &found
				case first.Since.IsZero() && !found.Since.IsZero(): // which the headers should have said
					return nil, false, fmt.Errorf("%w: the log store went away", job.ErrUnavailable)
				}
				for i := range found.Entries {
					access.HideEntry(access.Who(ctx).Access, &found.Entries[i])
				}
				next = found.Next
				return found.Entries, next != "", err
			},
			Head: []string{"at", "user", "how", "token", "address", "operation", "object", "group", "result", "note", "changes", "assistant", "detail"},
			Row:  auditRow,
			About: func() map[string]string {
				about := map[string]string{}
				for name, at := range map[string]time.Time{headerSince: first.Since, headerAsOf: first.AsOf} {
					if !at.IsZero() {
						about[name] = export.CellTime(at)
					}
				}
				return about
			},
		}
		return e.Serve(live, c, h.users, h.log)
	}
}

// An export has no place for what an AuditLogPage says in since and as_of, so its headers do.
const (
	headerSince = "Carillon-Since"
	headerAsOf  = "Carillon-As-Of"
)

func auditRow(e *trail.Entry) []string {
	changes, _ := json.Marshal(e.Changes) // which came as JSON
	return []string{
		export.CellTime(e.At), export.CellText(e.User), e.How, e.Token, e.Address, e.Operation, export.CellText(e.Object), e.Group,
		string(e.Result), export.CellText(e.Note), export.CellText(string(changes)), e.Assistant, string(e.Detail),
	}
}
