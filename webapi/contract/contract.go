package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Contract is [api.Contract], made ready to check requests.
type Contract struct {
	Doc *openapi3.T
}

// Load reads the contract, once.
var Load = sync.OnceValues(func() (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Contract)
	if err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	return &Contract{doc}, nil
})

// Check returns the handler that refuses a request for an operation that breaks the contract. It comes
// before parameters are decoded, since it names what is wrong.
func (c *Contract) Check(o Operation) fiber.Handler {
	item := c.Doc.Paths.Value(o.Path)
	op := item.GetOperation(o.Method)
	parameters := append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...)
	return func(c *fiber.Ctx) error {
		if err := checkParameters(c, parameters, op.Extensions[otherParameters] == true); err != nil {
			return err
		}
		if err := checkBody(c, op); err != nil {
			return err
		}
		return c.Next()
	}
}

// otherParameters marks an operation that somebody else makes up requests for, and
// whose unknown parameters are passed over.
const otherParameters = "x-other-parameters"

// checkParameters reports every parameter that is wrong or, unless others may come,
// unknown.
func checkParameters(c *fiber.Ctx, parameters openapi3.Parameters, others bool) error {
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return job.Invalid("", "%s", reasonOfQuery(err))
	}
	in := &openapi3filter.RequestValidationInput{
		Request:     &http.Request{Method: c.Method(), URL: &url.URL{}, Header: http.Header(c.GetReqHeaders())},
		QueryParams: query,
		PathParams:  c.AllParams(),
		Options:     &openapi3filter.Options{SkipSettingDefaults: true},
	}
	var errs []error
	known := map[string]bool{}
	for _, p := range parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			known[p.Value.Name] = true
			if values := query[p.Value.Name]; len(values) > 1 && !p.Value.Schema.Value.Type.Is("array") {
				errs = append(errs, job.Invalid(p.Value.Name, "is given more than once"))
				continue
			}
		}
		if err := openapi3filter.ValidateParameter(c.UserContext(), in, p.Value); err != nil {
			errs = append(errs, job.Invalid(p.Value.Name, "%s", reasonOf(err)))
			continue
		}
		if p.Value.In == openapi3.ParameterInQuery && p.Value.Schema.Value.Format == "date-time" {
			errs = append(errs, checkInstant(p.Value.Name, query.Get(p.Value.Name)))
		}
	}
	for name := range query {
		if !known[name] && !others {
			errs = append(errs, job.Invalid(name, "is not a parameter of this request"))
		}
	}
	return errors.Join(errs...)
}

// checkInstant refuses an instant before 1970. The first instant of year 1 would be taken
// for a parameter that is absent, and a range from there is longer than a duration can be.
func checkInstant(name, text string) error {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Unix() < 0 { // what is no instant was refused before
		return job.Invalid(name, "%s must not be before 1970-01-01T00:00:00Z", text)
	}
	return nil
}

// decoders check the documents that packages job and alerting define, which say more than a
// schema can.
var decoders = map[string]func([]byte) error{
	"putJob":          func(data []byte) error { _, err := job.Decode(data); return err },
	"putAlert":        func(data []byte) error { _, err := alerting.DecodeRule(data); return err },
	"putChannel":      func(data []byte) error { _, err := alerting.DecodeChannel(data); return err },
	"previewCalendar": func(data []byte) error { _, err := job.DecodeCalendar(data); return err },
	"putCalendar":     func(data []byte) error { _, err := job.DecodeCalendar(data); return err },
}

// checkBody checks the type of a body and what it says. A body that may be left out,
// and is, becomes an empty object.
func checkBody(c *fiber.Ctx, op *openapi3.Operation) error {
	if op.RequestBody == nil {
		return nil
	}
	required := op.RequestBody.Value.Required
	body := c.Body()
	if len(body) == 0 && required {
		return job.Invalid("", "has no body; send a JSON document")
	}
	if len(body) == 0 {
		c.Request().SetBodyString("{}")
		c.Request().Header.SetContentType(fiber.MIMEApplicationJSON)
		return nil
	}
	if kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType)); err != nil || kind != fiber.MIMEApplicationJSON {
		return fiber.NewError(http.StatusUnsupportedMediaType, "the body must be JSON, with Content-Type: application/json")
	}
	if !utf8.Valid(body) { // its text would be kept with other characters than were sent
		return job.Invalid("", "not JSON: the body is not UTF-8")
	}
	if field := exact.Twice(body); field != "" {
		return job.Invalid(field, "is given twice")
	}
	if decode := decoders[op.OperationID]; decode != nil {
		return decode(body)
	}
	return checkSchema(body, op.RequestBody.Value.Content[fiber.MIMEApplicationJSON].Schema.Value)
}

// maxFieldErrors bounds how many things that are wrong with a body one is told at once: a
// large body can have any number of them.
const maxFieldErrors = 100

// floats returns a JSON value with a float64 in the place of each number, for a schema to judge. One
// that is too large for it becomes the greatest: bounds refuse that as well, and where there are none,
// as in parameters, it is accepted. What is kept is the text of the body.
func floats(value any) any {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return math.Copysign(math.MaxFloat64, f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = floats(v[key])
		}
	}
	return value
}

func checkSchema(body []byte, schema *openapi3.Schema) error {
	var value any
	if err := exact.Unmarshal(body, &value); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return job.Invalid("", "not JSON: %s at byte %d", syntax.Error(), syntax.Offset)
		}
		return job.Invalid("", "not JSON")
	}
	err := schema.VisitJSON(floats(value), openapi3.MultiErrors(), formats)
	if err == nil {
		return nil
	}
	var errs []error
	var flatten func(error)
	flatten = func(err error) {
		if many, ok := err.(openapi3.MultiError); ok { //nolint:errorlint // the tree is walked by hand
			for _, e := range many {
				flatten(e)
			}
			return
		}
		field := ""
		if e, ok := errors.AsType[*openapi3.SchemaError](err); ok {
			if e.SchemaField == "allOf" && e.Origin != nil { // what is wrong is within
				flatten(e.Origin)
				return
			}
			field = fieldOf(e)
		}
		if len(errs) < maxFieldErrors {
			errs = append(errs, job.Invalid(field, "%s", reasonOf(err)))
		}
	}
	flatten(err)
	return errors.Join(errs...)
}
