package contract

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// Readers of other languages see the sentence of their language.
func TestEachReasonIsASentenceOfTheTable(t *testing.T) {
	text, list, object := openapi3.NewStringSchema, openapi3.NewArraySchema, openapi3.NewObjectSchema
	for name, c := range map[string]struct {
		schema *openapi3.Schema
		value  any
	}{
		"a text":              {text(), 5.0},
		"a truth":             {openapi3.NewBoolSchema(), "x"},
		"a number":            {openapi3.NewFloat64Schema(), "x"},
		"a whole number":      {openapi3.NewIntegerSchema(), "x"},
		"a list":              {list(), "x"},
		"an object":           {object(), "x"},
		"null":                {text(), nil},
		"a field is missing":  {object().WithRequired([]string{"x"}), map[string]any{}},
		"an unknown field":    {object().WithoutAdditionalProperties(), map[string]any{"x": "y"}},
		"one of three":        {text().WithEnum("a", "b", "c"), "x"},
		"a short text":        {text().WithMinLength(2), "x"},
		"a long text":         {text().WithMaxLength(2), "xyz"},
		"a short list":        {list().WithMinItems(1), []any{}},
		"a long list":         {list().WithMaxItems(1), []any{"x", "y"}},
		"a small number":      {openapi3.NewIntegerSchema().WithMin(2), 1.0},
		"a large number":      {openapi3.NewIntegerSchema().WithMax(2), 3.0},
		"a text of some form": {text().WithPattern("^a;b$"), "x"},
		"an instant":          {text().WithFormat("date-time"), "noon"},
	} {
		err := c.schema.VisitJSON(c.value)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if said := reason.Read(reasonOf(err)); said.Code == "" || said.And != nil {
			t.Errorf("%s: %q is no sentence of the table", name, said.Text)
		}
	}
}
