package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/executor/schema"
)

type item struct {
	SKU string `json:"sku" validate:"required,max=8"`
}

type order struct {
	Customer string   `json:"customer" validate:"min=1"`
	Rows     int      `json:"rows" validate:"required,gte=1,lte=9"`
	Size     string   `json:"size,omitempty" validate:"omitempty,oneof=s l"`
	Items    []item   `json:"items" validate:"min=1,dive,required"`
	Note     *string  `json:"note"`
	Rate     *float64 `json:"rate" validate:"required,gt=0"`
	Hidden   string   `json:"-"`
}

func TestASchemaSaysWhatIsRequiredAndBounded(t *testing.T) {
	var got, want any
	if err := json.Unmarshal(schema.JSON{}.Of(reflect.TypeFor[order]()), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"type": "object", "additionalProperties": false, "required": ["customer", "rows", "items", "rate"],
		"properties": {
			"customer": {"type": "string", "minLength": 1},
			"rows": {"type": "integer", "minimum": 1, "maximum": 9},
			"size": {"type": "string", "enum": ["s", "l"]},
			"items": {"type": ["null", "array"], "minItems": 1, "items": {"type": "object", "additionalProperties": false, "required": ["sku"], "properties": {"sku": {"type": "string", "maxLength": 8}}}},
			"note": {"type": ["null", "string"]},
			"rate": {"type": ["null", "number"], "exclusiveMinimum": 0}
		}
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
