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
		return "is missing"
	case errors.Is(err, openapi3filter.ErrInvalidEmptyValue):
		return "must not be empty"
	}
	return "is not valid"
}

func reasonOfSchema(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "required":
		return "is missing"
	case "properties":
		return "is not a known field"
	case "nullable":
		return "must not be null"
	case "enum":
		return "must be " + oneOf(e.Schema.Enum)
	case "minLength":
		return fmt.Sprintf("must have at least %d characters", e.Schema.MinLength)
	case "maxLength":
		return fmt.Sprintf("must have at most %d characters", *e.Schema.MaxLength)
	case "minItems":
		return fmt.Sprintf("must have %d or more items", e.Schema.MinItems)
	case "maxItems":
		return fmt.Sprintf("must have at most %d items", *e.Schema.MaxItems)
	case "pattern":
		return "must match " + e.Schema.Pattern
	case "format":
		return reasonOfFormat(e)
	}
	// "value must be a string", "number must be at least 1"
	return strings.TrimPrefix(strings.TrimPrefix(e.Reason, "value "), "number ")
}

func reasonOfFormat(e *openapi3.SchemaError) string {
	switch text, _ := e.Value.(string); e.Schema.Format {
	case "date-time":
		return "must be an instant in RFC 3339, such as 2026-03-01T09:00:00Z"
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
		return fmt.Sprintf("%q must be a whole number", e.Value)
	case "an invalid number":
		return fmt.Sprintf("%q must be a number", e.Value)
	case "an invalid boolean":
		return fmt.Sprintf("%q must be true or false", e.Value)
	}
	return fmt.Sprintf("%q cannot be read", e.Value)
}

// oneOf returns the values of an enumeration as a sentence has them.
func oneOf(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	last := len(texts) - 1
	if last <= 0 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
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
