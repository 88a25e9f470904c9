package webapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"carillon/job"
)

// diff lists the fields in which two documents differ, in order of path. Lists and
// params count as one field each: they are changed as a whole. One that is nil has no
// fields.
func diff(from, to any) ([]FieldChange, error) {
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
	changes := []FieldChange{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(a[path], b[path]) {
			changes = append(changes, FieldChange{Field: path, From: a[path], To: b[path]})
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
	if err := json.Unmarshal(data, &fields); err != nil {
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

// canonical returns j as reading it back from the bucket would: without the white
// space of params, and with nothing for what is empty. Only so an equal document is
// known to be equal.
func canonical(j job.Job) (job.Job, error) {
	data, err := json.Marshal(j.WithDefaults())
	if err != nil {
		return j, fmt.Errorf("encode job %s: %w", j.Job, err)
	}
	return job.Decode(data)
}
