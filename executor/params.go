package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/exact"
)

// paramsReader reads parameters into a P.
type paramsReader[P any] struct {
	handler  string
	validate func(json.RawMessage) error // nil: nobody checks them
}

func newParamsReader[P any](e *Executor, handler string, schema json.RawMessage) paramsReader[P] {
	r := paramsReader[P]{handler: handler}
	if e.cfg.Schemas != nil && len(schema) > 0 {
		// A schema that cannot be used is refused with the handler.
		r.validate, _ = e.cfg.Schemas.Validator(schema)
	}
	return r
}

// read returns the parameters of a run. The error says what does not fit.
func (r paramsReader[P]) read(raw json.RawMessage) (params P, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		if r.validate == nil || reflect.TypeFor[P]().Kind() != reflect.Struct {
			return params, nil
		}
		raw = json.RawMessage("{}") // so that fields that are required are missing
	}
	if r.validate != nil {
		if err := r.validate(raw); err != nil {
			return params, fmt.Errorf("params of handler %s: %w", r.handler, err)
		}
	}
	err = exact.Unmarshal(raw, &params)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number ") {
		var again P
		if exact.Unmarshal(wholeNumbers(raw), &again) == nil {
			return again, nil
		}
	}
	if err != nil {
		return params, fmt.Errorf("decode params of handler %s: %w", r.handler, err)
	}
	return params, nil
}

// wholeNumbers returns JSON in which a whole number has neither point nor exponent: 2.0 is the same
// number as 2, but package json reads only the latter into an int.
func wholeNumbers(raw json.RawMessage) json.RawMessage {
	var value any
	if exact.Unmarshal(raw, &value) != nil {
		return raw
	}
	data, err := json.Marshal(withWhole(value))
	if err != nil {
		return raw
	}
	return data
}

func withWhole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, part := range v {
			v[key] = withWhole(part)
		}
	case []any:
		for i, part := range v {
			v[i] = withWhole(part)
		}
	case json.Number:
		const exactly = 1 << 53
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") && f == math.Trunc(f) && math.Abs(f) < exactly {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return value
}
