package nodes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// paramsSchema is a JSON schema of parameters, for one request.
type paramsSchema struct {
	*jsonschema.Schema
	parts  int
	effort *effort
}

// compile reads a schema. The error has an *InvalidError for each thing that is wrong in the field
// params_schema.
func compile(text json.RawMessage, e *effort) (paramsSchema, error) {
	const name, field = "params.json", "params_schema"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return paramsSchema{}, job.Invalid(field, "is not JSON")
	}
	if n := beyondJudgement(document); n != "" {
		return paramsSchema{}, job.Invalid(field, "must not have %s: numbers have at most four digits in their exponents", clip.Text(n, 40))
	}
	parts, err := countParts(document)
	if err != nil {
		return paramsSchema{}, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(e.compile)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing that a schema refers to is fetched
	if err := c.AddResource(name, document); err != nil {
		return paramsSchema{}, job.Invalid(field, "cannot be used as a JSON schema: look at its $ref and pattern")
	}
	schema, err := c.Compile(name)
	if wrong, isWrong := errors.AsType[*jsonschema.SchemaValidationError](err); isWrong {
		if why, known := errors.AsType[*jsonschema.ValidationError](wrong.Err); known {
			return paramsSchema{}, errors.Join(leaves(why, field, func(k jsonschema.ErrorKind) string { return misfit("JSON Schema", k) })...)
		}
	}
	if err != nil {
		return paramsSchema{}, job.Invalid(field, "cannot be used as a JSON schema: look at its $ref and pattern")
	}
	return paramsSchema{schema, parts, e}, nil
}

// fitOwn checks the schema of a job, and parameters by it; without any, the schema alone.
func fitOwn(text, params json.RawMessage) error {
	if len(text) == 0 {
		return nil
	}
	schema, err := compile(text, newEffort())
	if err != nil || len(params) == 0 {
		return err
	}
	return schema.fit("params", "params_schema", params)
}

// fit checks the parameters in a field, as some run will have them. Of says whose schema it is.
func (s paramsSchema) fit(field, of string, params json.RawMessage) error {
	params, err := job.ParamsAt(params, time.Now(), time.UTC)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return job.Invalid(field, "is not JSON")
	}
	if n := beyondJudgement(value); n != "" {
		return job.Invalid(field, "must not have %s: %s has a schema, which judges numbers with at most four digits in their exponents", clip.Text(n, 40), of)
	}
	n := countValues(value)
	if s.effort.judgements -= s.parts * n; s.effort.judgements < 0 {
		return job.Invalid(field, "has %d values, for %d parts of %s: that takes too long, since all parts times all values may be %d", n, s.parts, of, maxJudgements)
	}
	wrong, isWrong := errors.AsType[*jsonschema.ValidationError](s.Validate(value))
	switch {
	case s.effort.matching < 0:
		return job.Invalid(field, "takes too long to match with the patterns of %s", of)
	case isWrong:
		return errors.Join(leaves(wrong, field, func(k jsonschema.ErrorKind) string { return misfit(of, k) })...)
	}
	return nil
}

// beyondJudgement returns a number in a value whose exponent is so large that the library for schemas
// would need long for it, or crash; "" if there is none.
func beyondJudgement(value any) string {
	switch v := value.(type) {
	case json.Number:
		if i := strings.IndexAny(string(v), "eE"); i >= 0 && len(strings.TrimLeft(string(v)[i+1:], "+-0")) > 4 {
			return string(v)
		}
	case []any:
		for _, part := range v {
			if n := beyondJudgement(part); n != "" {
				return n
			}
		}
	case map[string]any:
		for _, part := range v {
			if n := beyondJudgement(part); n != "" {
				return n
			}
		}
	}
	return ""
}

// maxPlaces is how many places a refusal names.
const maxPlaces = 20

func inEnglish(k jsonschema.ErrorKind) string {
	return k.LocalizedString(message.NewPrinter(language.English))
}

// misfit says why a value does not fit a schema. Of says whose schema it is.
func misfit(of string, why jsonschema.ErrorKind) string {
	limit := func(what any) string { return refusal.SchemaLimit.With(of, why.KeywordPath()[0], fmt.Sprint(what)) }
	switch k := why.(type) {
	case *kind.Type:
		return refusal.SchemaType.With(of, k.Got, strings.Join(k.Want, " or "))
	case *kind.Required:
		return refusal.SchemaLacks.With(of, strings.Join(k.Missing, ", "))
	case *kind.AdditionalProperties:
		return refusal.SchemaUnknown.With(of, strings.Join(k.Properties, ", "))
	case *kind.Enum:
		return limit(k.Want)
	case *kind.Pattern:
		return limit(k.Want)
	case *kind.MinLength:
		return limit(k.Want)
	case *kind.MaxLength:
		return limit(k.Want)
	case *kind.MinItems:
		return limit(k.Want)
	case *kind.MaxItems:
		return limit(k.Want)
	case *kind.Minimum:
		return limit(k.Want.RatString())
	case *kind.Maximum:
		return limit(k.Want.RatString())
	}
	return refusal.SchemaOther.With(of, inEnglish(why))
}

// leaves returns what is wrong at the first ends of the tree of reasons; say puts one in words.
func leaves(e *jsonschema.ValidationError, field string, say func(jsonschema.ErrorKind) string) []error {
	if len(e.Causes) == 0 {
		return []error{&job.InvalidError{Field: pathOf(field, e.InstanceLocation), Reason: say(e.ErrorKind)}}
	}
	var errs []error
	for _, cause := range e.Causes {
		if errs = append(errs, leaves(cause, field, say)...); len(errs) >= maxPlaces {
			return errs[:maxPlaces]
		}
	}
	return errs
}

// pathOf returns a place in the parameters of a field as fields are named elsewhere.
func pathOf(field string, location []string) string {
	var path strings.Builder
	path.WriteString(field)
	for _, part := range location {
		if _, err := strconv.Atoi(part); err == nil {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}
