package contract

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// formatDuration is what the contract calls the texts that job.ParseDuration reads.
const formatDuration = "go-duration"

// formats are those of texts that only this contract has.
var formats = openapi3.WithStringFormatValidator(formatDuration, openapi3.NewCallbackValidator(func(text string) error {
	_, err := job.ParseDuration(text)
	return err
}))

// reasonOf returns what a checker's error says of a value, as the end of a sentence that
// begins with the field's name.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		return reasonOfSchema(e)
	}
	if e, ok := errors.AsType[*openapi3filter.ParseError](err); ok {
		return reasonOfText(e)
	}
	switch {
	case errors.Is(err, openapi3filter.ErrInvalidRequired):
		return refusal.IsMissing.String()
	case errors.Is(err, openapi3filter.ErrInvalidEmptyValue):
		return refusal.NotEmpty.String()
	}
	return refusal.NotValid.String()
}

func reasonOfSchema(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "required":
		return refusal.IsMissing.String()
	case "properties":
		return refusal.NotKnown.String()
	case "nullable":
		return refusal.NotNull.String()
	case "enum":
		return oneOf(e.Schema.Enum)
	case "minLength":
		if e.Schema.MinLength == 1 {
			return refusal.NotEmpty.String()
		}
		return refusal.FewCharacters.With(e.Schema.MinLength)
	case "maxLength":
		return refusal.ManyCharacters.With(*e.Schema.MaxLength)
	case "minItems":
		return refusal.FewItems.With(e.Schema.MinItems)
	case "maxItems":
		return refusal.ManyItems.With(*e.Schema.MaxItems)
	case "pattern":
		return refusal.OfForm.With(e.Schema.Pattern)
	case "format":
		return reasonOfFormat(e)
	}
	// "value must be a string", "number must be at least 1": OfType and AtLeast of package refusal
	return strings.TrimPrefix(strings.TrimPrefix(e.Reason, "value "), "number ")
}

func reasonOfFormat(e *openapi3.SchemaError) string {
	switch text, _ := e.Value.(string); e.Schema.Format {
	case "date-time":
		return refusal.AnInstant.With("2026-03-01T09:00:00Z")
	case formatDuration:
		if bad, ok := errors.AsType[*job.InvalidError](durationError(text)); ok {
			return bad.Reason
		}
	}
	return "must be a " + e.Schema.Format
}

func durationError(text string) error {
	_, err := job.ParseDuration(text)
	return err
}

// reasonOfText returns what is wrong with a parameter's text, which its type cannot be
// read from.
func reasonOfText(e *openapi3filter.ParseError) string {
	if inner, ok := errors.AsType[*openapi3filter.ParseError](e.Cause); ok { // of an item of a list
		return reasonOfText(inner)
	}
	switch e.Reason {
	case "an invalid integer":
		return refusal.WholeNumber.With(e.Value)
	case "an invalid number":
		return fmt.Sprintf("%q must be a number", fmt.Sprint(e.Value))
	case "an invalid boolean":
		return refusal.TrueOrFalse.With(e.Value)
	}
	return fmt.Sprintf("%q cannot be read", e.Value)
}

// oneOf says that a value must be one of an enumeration.
func oneOf(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	last := len(texts) - 1
	if last <= 0 {
		return "must be " + strings.Join(texts, "")
	}
	return refusal.OneOf.With(strings.Join(texts[:last], ", "), texts[last])
}

// fieldOf returns the path of the field that a checker's error is about.
func fieldOf(e *openapi3.SchemaError) string {
	path := e.JSONPointer()
	if e.SchemaField == "properties" { // its path ends at the object around it
		if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(e.Reason, "property ")); err == nil {
			name, _ := strconv.Unquote(quoted)
			path = append(path, name)
		}
	}
	return strings.Join(path, ".")
}

// reasonOfQuery returns what is wrong with a query string that url.ParseQuery refuses.
func reasonOfQuery(err error) string {
	if _, ok := errors.AsType[url.EscapeError](err); ok {
		return "has a query string that cannot be read: a % must be followed by two hexadecimal digits"
	}
	return "has a query string that cannot be read: a semicolon must be written as %3B"
}
