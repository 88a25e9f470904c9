package executor

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// encodeResult returns a handler's result as JSON, or a note why it cannot be passed on: the work is
// done either way. The error says that it is not: a channel, an iterator or a reader is the result, or
// inside of it.
func encodeResult(result any) (data json.RawMessage, note string, err error) {
	if result == nil {
		return nil, "", nil
	}
	if place, what := (unfinished{}).find(reflect.ValueOf(result), "result"); what != "" {
		if place == "result" {
			place = "the result"
		}
		return nil, "", errors.New(reason.ResultUnfinished.With(place, what))
	}
	data, err = json.Marshal(result)
	if own, ok := errors.AsType[*json.MarshalerError](err); ok {
		err = own.Err // which method said it helps nobody
	}
	if err != nil {
		if place := fault(reflect.ValueOf(result)); place != whole {
			err = fmt.Errorf("%s: %w", place, err)
		}
		return nil, reason.ResultLeftOut.With(err), nil
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD")), "", nil // what is JSON already is not looked at
}

// unfinished looks for work in a result that nobody has waited for. It holds what it has seen.
type unfinished map[visit]bool

// visit is a pointer, a map or a slice on the way through a result.
type visit struct {
	at   uintptr
	size int
	of   reflect.Type
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	reader        = reflect.TypeFor[io.Reader]()
)

// find returns the place of the first part of v that is not done, and what it is; "" without one.
func (u unfinished) find(v reflect.Value, place string) (where, what string) {
	if !v.IsValid() {
		return "", ""
	}
	t := v.Type()
	switch kind := v.Kind(); kind { //nolint:exhaustive // the others have no parts
	case reflect.Chan:
		if v.IsNil() {
			return "", ""
		}
		return place, fmt.Sprintf("a channel (%s)", t)
	case reflect.Func:
		if v.IsNil() || !t.CanSeq() && !t.CanSeq2() {
			return "", ""
		}
		return place, fmt.Sprintf("an iterator (%s)", t)
	case reflect.Interface:
		return u.find(v.Elem(), place)
	case reflect.Pointer, reflect.Map, reflect.Slice:
		at := visit{at: v.Pointer(), of: t}
		if kind == reflect.Slice {
			at.size = v.Len()
		}
		if v.IsNil() || u[at] {
			return "", ""
		}
		u[at] = true
	}
	if t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		return "", ""
	}
	if t.Implements(reader) || reflect.PointerTo(t).Implements(reader) && v.Kind() == reflect.Struct {
		return place, fmt.Sprintf("a stream (%s)", t)
	}
	return u.inside(v, place)
}

// inside looks at the parts of v.
func (u unfinished) inside(v reflect.Value, place string) (where, what string) {
	eachPart(v, place, func(at string, part reflect.Value) bool {
		where, what = u.find(part, at)
		return what == ""
	})
	return where, what
}

// eachPart calls yield with what a value consists of, each with its place, until that returns false. Lists of
// whole numbers and of texts have no parts.
func eachPart(v reflect.Value, place string, yield func(place string, part reflect.Value) bool) {
	switch v.Kind() { //nolint:exhaustive // the others have no parts
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			yield(place, v.Elem())
		}
	case reflect.Map:
		for key, part := range v.Seq2() {
			if !yield(fmt.Sprintf("%s.%v", place, key), part) {
				return
			}
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k < reflect.Float32 || k == reflect.String {
			return
		}
		for i := range v.Len() {
			if !yield(fmt.Sprintf("%s[%d]", place, i), v.Index(i)) {
				return
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(place+"."+name, v.Field(i)) {
				return
			}
		}
	}
}

// whole is the place of a result itself.
const whole = "result"

// deepest bounds how deep the place of a fault is looked for.
const deepest = 20

// fault returns the place of what JSON cannot hold of a result.
func fault(v reflect.Value) string {
	place := whole
	for range deepest {
		found := false
		if t := v.Type(); !t.Implements(jsonMarshaler) && !t.Implements(textMarshaler) {
			eachPart(v, place, func(at string, part reflect.Value) bool {
				if !part.CanInterface() {
					return true
				}
				if _, err := json.Marshal(part.Interface()); err != nil {
					v, place, found = part, at, true
				}
				return !found
			})
		}
		if !found {
			break
		}
	}
	return place
}
