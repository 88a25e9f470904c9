package schema

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// JSON makes and checks schemas, for executor.Config.Schemas.
type JSON struct{}

// Check implements executor.Schemas.
func (JSON) Check(schema json.RawMessage) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	_, err := s.Resolve(nil)
	return err
}

// Of implements executor.Schemas. No field is required, for one that is missing is zero.
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
	requireNothing(s)
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

func requireNothing(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	requireNothing(s.Items)
	requireNothing(s.AdditionalProperties)
	for _, p := range s.Properties {
		requireNothing(p)
	}
}
