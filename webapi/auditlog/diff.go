package auditlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Diff lists the fields in which two documents differ, in order of path. Lists and
// params count as one field each: they are changed as a whole. But the fields of a step are
// below its name, as in steps.load.timeout, and of the list itself only the order counts. Numbers
// differ if they are written differently. A document that is nil has no fields.
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
		if path == "steps" {
			object, leaves[path] = stepsOf(value)
		} else if !ok || isWhole(path) {
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

// isWhole reports whether a field counts as one although its value may be an object.
func isWhole(path string) bool {
	return path == "params" || path == "result" || strings.HasPrefix(path, "steps.") && strings.Count(path, ".") == 2 && strings.HasSuffix(path, ".params")
}

// stepsOf returns the steps of a document by their names, without those, and their names in order.
func stepsOf(list any) (steps map[string]any, names []any) {
	steps = map[string]any{}
	all, _ := list.([]any)
	for _, s := range all {
		step, _ := s.(map[string]any)
		name, _ := step["step"].(string)
		delete(step, "step")
		steps[name] = step
		names = append(names, name)
	}
	return steps, names
}
