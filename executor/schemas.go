package executor

import (
	"encoding/json"
	"errors"
	"reflect"
)

// Schemas makes and checks the JSON schemas that are announced of handlers.
type Schemas interface {
	// Of returns the schema of what json.Unmarshal takes for a type; nil where nothing can be said.
	Of(t reflect.Type) json.RawMessage
	// Check returns an error unless a schema can be used.
	Check(schema json.RawMessage) error
}

// schemaOf returns the schema of a type; nil if nobody makes them.
func (e *Executor) schemaOf(t reflect.Type) json.RawMessage {
	if e.cfg.Schemas == nil {
		return nil
	}
	return e.cfg.Schemas.Of(t)
}

func (e *Executor) checkSchema(schema json.RawMessage) error {
	switch {
	case len(schema) == 0:
		return nil
	case !json.Valid(schema):
		return errors.New("it is not JSON")
	case e.cfg.Schemas == nil:
		return nil
	}
	return e.cfg.Schemas.Check(schema)
}
