package conformance

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/schema"
)

// Schemas returns the schemas of package schema, by the names of their files.
var Schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	names, err := fs.Glob(schema.Files, "*.json")
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	for _, name := range names {
		data, err := schema.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		if err := compiler.AddResource(name, parsed); err != nil {
			return nil, fmt.Errorf("add schema %s: %w", name, err)
		}
	}
	all := map[string]*jsonschema.Schema{}
	for _, name := range names {
		if all[strings.TrimSuffix(name, ".json")], err = compiler.Compile(name); err != nil {
			return nil, fmt.Errorf("compile schema %s: %w", name, err)
		}
	}
	return all, nil
})

// published has the schema of what executors publish, by the beginning of the subject.
var published = []struct{ prefix, schema string }{
	{"evt.", "event"},
	{"log.", "log"},
	{bus.SubjectHeartbeats, "instance"},
	{"$KV." + bus.BucketHandler + ".", "handler"},
	{"$KV." + bus.BucketClaim + ".", "claim"},
	{"$JS.API.CONSUMER.MSG.NEXT.", "pull"},
}

// checkShapes fails unless all that the executor has published fits its schema.
func (t *test) checkShapes() {
	for _, h := range t.since(0, func(h heard) bool { return len(h.data) > 0 }) {
		for _, p := range published {
			if !strings.HasPrefix(h.subject, p.prefix) {
				continue
			}
			parts := [][]byte{h.data}
			if h.header.Get(bus.HeaderMessage) == bus.MessageEnds {
				parts = bytes.Split(h.data, []byte{'\n'})[1:]
			}
			for _, part := range parts {
				t.fit(p.schema, h.subject, part)
			}
		}
	}
}

// fit fails unless a message, which came as what, fits a schema.
func (t *test) fit(name, what string, data []byte) {
	schemas, err := Schemas()
	if err != nil {
		t.failf("%v", err)
	}
	message, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = schemas[name].Validate(message)
	}
	if err != nil {
		t.failf("%s does not fit bus/schema/%s.json: %v\n%s", what, name, err, data)
	}
}
