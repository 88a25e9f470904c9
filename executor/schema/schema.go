package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// JSON makes and checks schemas, for executor.Config.Schemas.
type JSON struct{}

// Validator implements executor.Schemas.
func (JSON) Validator(schema json.RawMessage) (func(json.RawMessage) error, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return func(value json.RawMessage) error {
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return err
		}
		if err := resolved.Validate(v); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
		}
		return nil
	}, nil
}

// Of implements executor.Schemas. A field is required unless it is a pointer, or its json tag has omitempty
// or omitzero. A validate tag adds bounds: required, min, max, len, gte, lte, gt, lt, oneof.
func (JSON) Of(t reflect.Type) json.RawMessage {
	if t.Kind() == reflect.Interface {
		return nil // it may be anything
	}
	own := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[[]byte](): {Type: "string"}}
	findUnmarshalers(t, own, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil
	}
	refine(t, s, map[reflect.Type]bool{})
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return data
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
	instant         = reflect.TypeFor[time.Time]()
)

// findUnmarshalers notes, for each type within t that reads itself, that it takes
// anything, or any text: what fields it has says nothing about what it reads.
func findUnmarshalers(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] || t == instant {
		return
	}
	seen[t] = true
	switch pointer := reflect.PointerTo(t); {
	case t.Kind() != reflect.Pointer && pointer.Implements(unmarshaler):
		own[t] = &jsonschema.Schema{}
		return
	case t.Kind() != reflect.Pointer && pointer.Implements(textUnmarshaler):
		own[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() { //nolint:exhaustive // the others have nothing within
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		findUnmarshalers(t.Elem(), own, seen)
	case reflect.Struct:
		for field := range t.Fields() {
			findUnmarshalers(field.Type, own, seen)
		}
	}
}

// refine says of the fields of t which are required, and their bounds, as their tags do. A field is
// required unless it is a pointer, or its json tag has omitempty or omitzero.
func refine(t reflect.Type, s *jsonschema.Schema, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil || seen[t] {
		return
	}
	switch t.Kind() { //nolint:exhaustive // the others have nothing within
	case reflect.Slice, reflect.Array:
		refine(t.Elem(), s.Items, seen)
	case reflect.Map:
		refine(t.Elem(), s.AdditionalProperties, seen)
	case reflect.Struct:
		seen[t] = true
		defer delete(seen, t)
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			name = cmp.Or(name, field.Name)
			part := s.Properties[name]
			if part == nil {
				continue // it is embedded, unexported, or left out
			}
			if field.Type.Kind() == reflect.Pointer {
				s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == name })
			}
			refine(field.Type, part, seen)
			for rule := range strings.SplitSeq(field.Tag.Get("validate"), ",") {
				if rule == "dive" {
					break // what follows is about the elements
				}
				if rule == "required" && !slices.Contains(s.Required, name) {
					s.Required = append(s.Required, name)
				}
				bound(field.Type, part, rule)
			}
		}
	}
}

// bound adds a rule of a validate tag to the schema of a field. Rules that schemas do not have are left to
// the library that knows them.
func bound(t reflect.Type, s *jsonschema.Schema, rule string) {
	mayBeNull := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, value, _ := strings.Cut(rule, "=")
	if name == "oneof" && t.Kind() == reflect.String {
		for word := range strings.FieldsSeq(value) {
			s.Enum = append(s.Enum, word)
		}
		if mayBeNull {
			s.Enum = append(s.Enum, nil)
		}
		return
	}
	limit, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	whole := int(limit)
	low, high := name == "min" || name == "gte" || name == "len", name == "max" || name == "lte" || name == "len"
	switch k := t.Kind(); {
	case k == reflect.String && low || k == reflect.String && high:
		set(&s.MinLength, low, whole)
		set(&s.MaxLength, high, whole)
	case k == reflect.Slice && low || k == reflect.Slice && high:
		set(&s.MinItems, low, whole)
		set(&s.MaxItems, high, whole)
	case k >= reflect.Int && k <= reflect.Float64:
		set(&s.Minimum, low, limit)
		set(&s.Maximum, high, limit)
		set(&s.ExclusiveMinimum, name == "gt", limit)
		set(&s.ExclusiveMaximum, name == "lt", limit)
	}
}

func set[T any](to **T, wanted bool, value T) {
	if wanted {
		*to = &value
	}
}
