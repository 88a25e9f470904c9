package webapi

import (
	"encoding/json"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"carillon/job"
	"carillon/job/rights"
	"carillon/job/runlog"
	"carillon/job/trail"
	"carillon/webapi/access"
)

// redacted is a middleware that hides, in whatever an operation returns, what the
// caller has no grant for in the group that it belongs to. It looks at types rather
// than operations, so that one which is added cannot forget it.
func redacted(next StrictHandlerFunc, _ string) StrictHandlerFunc {
	return func(c *fiber.Ctx, request any) (any, error) {
		response, err := next(c, request)
		by := access.Of(c.UserContext())
		if err != nil || response == nil || by.Who == nil || access.SeesAll(by.Who.Access) {
			return response, err
		}
		copied := reflect.New(reflect.TypeOf(response)).Elem()
		copied.Set(reflect.ValueOf(response))
		hide(by.Who.Access, copied)
		return copied.Interface(), nil
	}
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
	case *GetRun200JSONResponse:
		if len(x.Params) > 0 && !theirs.Sees(rights.Params, x.Job.Group()) {
			x.Params, _ = json.Marshal(access.Hidden) // a constant
		}
	case *PutJobResult:
		access.HideChanges(theirs, x.Definition.Job.Job.Group(), x.Changes)
	case *DiffJob200JSONResponse:
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
