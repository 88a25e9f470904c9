package webapi

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/job"
)

// decoder fills in a request of one generated type.
type decoder struct {
	parameters []parameter
	headers    bool // some parameters are headers
	body       int  // the index of the field Body; -1 without one
}

// parameter is the field of one parameter.
type parameter struct {
	name  string
	in    place
	index []int
	parse func(field reflect.Value, text string) error
}

// place is where a parameter is.
type place int

const (
	inPath place = iota
	inQuery
	inHeader
)

// decoderOf returns the decoder of a type. Its own fields are in the path; those of Params are in the
// query, with a tag "form", or are headers. It panics if a field has a type that no parameter has yet.
func decoderOf(t reflect.Type) *decoder {
	d := &decoder{body: -1}
	add := func(f reflect.StructField, in place, tag string, index ...int) {
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		d.parameters = append(d.parameters, parameter{name, in, index, parserOf(f.Type)})
		d.headers = d.headers || in == inHeader
	}
	for i := range t.NumField() {
		switch f := t.Field(i); f.Name {
		case "Body":
			d.body = i
		case "Params":
			for j := range f.Type.NumField() {
				if p := f.Type.Field(j); p.Tag.Get("form") != "" {
					add(p, inQuery, "form", i, j)
				} else {
					add(p, inHeader, "json", i, j)
				}
			}
		default:
			add(f, inPath, "json", i)
		}
	}
	return d
}

// parserOf returns what sets a field of type t to a value. A slice gets one more with each.
func parserOf(t reflect.Type) func(field reflect.Value, text string) error {
	if t == reflect.TypeFor[time.Time]() {
		return func(field reflect.Value, text string) error {
			at, err := time.Parse(time.RFC3339, text)
			field.Set(reflect.ValueOf(at))
			return err
		}
	}
	switch t.Kind() { //nolint:exhaustive // no parameter has another
	case reflect.String:
		return func(field reflect.Value, text string) error {
			field.SetString(text)
			return nil
		}
	case reflect.Bool:
		return func(field reflect.Value, text string) error {
			b, err := strconv.ParseBool(text)
			field.SetBool(b)
			return err
		}
	case reflect.Int, reflect.Int64:
		return func(field reflect.Value, text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			field.SetInt(n)
			return err
		}
	case reflect.Uint64:
		return func(field reflect.Value, text string) error {
			n, err := strconv.ParseUint(text, 10, 64)
			field.SetUint(n)
			return err
		}
	case reflect.Pointer, reflect.Slice:
		parse := parserOf(t.Elem())
		return func(field reflect.Value, text string) error {
			value := reflect.New(t.Elem())
			err := parse(value.Elem(), text)
			if t.Kind() == reflect.Pointer {
				field.Set(value)
			} else {
				field.Set(reflect.Append(field, value.Elem()))
			}
			return err
		}
	}
	panic("BUG: no parameter can be read into a " + t.String())
}

// decode fills in a request. What it refuses the check against the contract has let through.
func (d *decoder) decode(c *fiber.Ctx, request reflect.Value) error {
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return job.Invalid("", "the query string is malformed")
	}
	var headers map[string][]string
	if d.headers {
		headers = c.GetReqHeaders()
	}
	for _, p := range d.parameters {
		var texts []string
		switch p.in {
		case inPath:
			text, err := url.PathUnescape(c.Params(p.name))
			if err != nil {
				return job.Invalid(p.name, "%q has a %% without two hexadecimal digits behind it", c.Params(p.name))
			}
			texts = []string{text}
		case inQuery:
			texts = query[p.name]
		case inHeader:
			if texts = headers[p.name]; len(texts) > 1 {
				return job.Invalid(p.name, "is given more than once")
			}
		}
		for _, text := range texts {
			if err := p.parse(request.FieldByIndex(p.index), text); err != nil {
				return job.Invalid(p.name, "%q is no value of this parameter", text)
			}
		}
	}
	if d.body < 0 {
		return nil
	}
	body := reflect.New(request.Field(d.body).Type().Elem())
	if err := json.Unmarshal(c.Body(), body.Interface()); err != nil {
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	request.Field(d.body).Set(body)
	return nil
}
