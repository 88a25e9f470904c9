package auditlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Diff lists the fields in which two documents differ, in order of path. Lists and
// params count as one field each: they are changed as a whole. Numbers differ if they are
// written differently. A document that is nil has no fields.
func Diff(from, to any) ([]api.FieldChange, error) {
	a, err := fieldsOf(from)
	if err != nil {
		return nil, err
	}
	b, err := fieldsOf(to)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	changes := []api.FieldChange{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(a[path], b[path]) {
			changes = append(changes, api.FieldChange{Field: path, From: a[path], To: b[path]})
		}
	}
	return changes, nil
}

// fieldsOf returns the leaves of a document by their paths.
func fieldsOf(document any) (map[string]any, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var fields map[string]any
	if err := exact.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("decode document: %w", err)
	}
	leaves := map[string]any{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		object, ok := value.(map[string]any)
		if !ok || path == "params" {
			leaves[path] = value
			return
		}
		for key, field := range object {
			if path != "" {
				key = path + "." + key
			}
			walk(key, field)
		}
	}
	walk("", fields)
	return leaves, nil
}
