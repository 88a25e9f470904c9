package webapi

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/contract"
)

// wantsText is the context key under which a request for text/plain is marked.
type wantsText struct{}

// StoodIn is a store that another one may stand in for.
type StoodIn interface {
	// StandIn returns what that one has, or nil while the store itself is asked.
	StandIn() *runlog.Partial
}

// partial lets a request that only shows something have an answer that is not of the whole
// history, and tells in its headers that it is: lists, runs and logs are worth most while
// something is wrong. What adds up years, or judges by what is missing, waits for the store.
func partial(c *fiber.Ctx) error {
	if !mayBePartial(c.Method(), c.Path()) {
		return c.Next()
	}
	ctx, witness := logstore.AcceptPartial(c.UserContext())
	c.SetUserContext(ctx)
	err := c.Next()
	if p := witness.Partial(); p != nil && err == nil {
		tellPartial(c, p)
	}
	return err
}

func tellPartial(c *fiber.Ctx, p *runlog.Partial) {
	if !p.Since.IsZero() {
		c.Set(headerSince, p.Since.Format(time.RFC3339Nano))
	}
	c.Set(headerAsOf, p.AsOf.Format(time.RFC3339Nano))
}

func mayBePartial(method, path string) bool {
	if method == fiber.MethodPost { // a cancel needs only the run's job and status; counts change nothing
		return path == "/api/v1/jobs/counts" || strings.HasPrefix(path, "/api/v1/runs/") && strings.HasSuffix(path, "/cancel")
	}
	if method != fiber.MethodGet && method != fiber.MethodHead || strings.HasSuffix(path, "/ledger") || path == "/api/v1/runs/export" {
		return false
	}
	for _, resource := range []string{"overview", "runs", "jobs", "logs"} {
		if rest, ok := strings.CutPrefix(path, "/api/v1/"+resource); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// headerVersion has the server's version, in answers to signed-in users. The console notices by it that
// the server was upgraded.
const headerVersion = "Carillon-Version"

// redacted hides, in whatever an operation returns, what the caller has no grant for in the group that it
// belongs to. It looks at types rather than operations, so that one which is added cannot forget it.
func redacted(ctx context.Context, response any) any {
	by := access.Of(ctx)
	if response == nil || by.Who == nil || access.SeesAll(by.Who.Access) {
		return response
	}
	copied := reflect.New(reflect.TypeOf(response)).Elem()
	copied.Set(reflect.ValueOf(response))
	hide(by.Who.Access, copied)
	return copied.Interface()
}

// hide walks what a response is made of. v must be settable.
func hide(theirs rights.List, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *job.Job:
		*x = access.HiddenJob(theirs, *x)
		return
	case *trail.Entry:
		access.HideEntry(theirs, x)
		return
	case *runlog.Run:
		if !theirs.Sees(rights.Logs, x.Job.Group()) {
			x.Result = nil
		}
		return
	case *RunDetail:
		if len(x.Params) > 0 && !theirs.Sees(rights.Params, x.Job.Group()) {
			x.Params, _ = json.Marshal(access.Hidden) // a constant
		}
	case *PutJobResult:
		access.HideChanges(theirs, x.Definition.Job.Job.Group(), x.Changes)
	case *JobPatchItem:
		access.HideChanges(theirs, x.Job.Group(), x.Changes)
	case *JobDiff:
		access.HideChanges(theirs, x.Job.Group(), x.Changes)
	}
	switch v.Kind() { //nolint:exhaustive // what is not here holds nothing
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hide(theirs, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			hide(theirs, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hide(theirs, v.Elem())
		}
	}
}

// acceptText returns an endpoint whose operation learns that the client wants text rather than JSON.
func acceptText(next endpoint) endpoint {
	return func(s *Server, op contract.Operation) fiber.Handler {
		serve := next(s, op)
		return func(c *fiber.Ctx) error {
			if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextPlain) == fiber.MIMETextPlain {
				c.SetUserContext(context.WithValue(c.UserContext(), wantsText{}, true))
			}
			return serve(c)
		}
	}
}
