package carillon_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/conformance"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// schemas returns the schemas of messages by name.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all, err := conformance.Schemas()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// messages returns examples by the name of their schema: those of the page, and what the tests
// of package bus keep.
func messages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	page, err := os.ReadFile("docs/reference/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(page), "\n```json ")[1:] {
		label, rest, _ := strings.Cut(part, "\n")
		text, _, _ := strings.Cut(rest, "\n```")
		if label != "http" { // a part of a trigger
			all[label] = append(all[label], text)
		}
	}
	for pattern, name := range map[string]string{"trigger*": "trigger", "event-[fps]*": "event", "log": "log", "instance": "instance", "kill-request": "kill"} {
		files, err := filepath.Glob(filepath.Join("bus/testdata", pattern+".json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no examples of %s: %v", name, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(file, "trigger-re") { // requests and answers of the API
				all[name] = append(all[name], string(data))
			}
		}
	}
	return all
}

func TestTheSchemasOfMessagesFitTheirExamples(t *testing.T) {
	all := schemas(t)
	for name, examples := range messages(t) {
		s := all[name]
		if s == nil {
			t.Errorf("there is no schema of %s", name)
			continue
		}
		for _, text := range examples {
			var message map[string]any
			if err := json.Unmarshal([]byte(text), &message); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(message); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			message["unknown"] = true
			if err := s.Validate(message); err != nil {
				t.Errorf("%s with an unknown field, which readers ignore: %v", name, err)
			}
			for _, field := range s.Required {
				without := maps.Clone(message)
				delete(without, field)
				if s.Validate(without) == nil {
					t.Errorf("%s fits without %s", name, field)
				}
			}
		}
	}
}

// What a program writes and a schema does not know, or the other way round, has been forgotten.
func TestTheSchemasOfMessagesHaveTheFieldsOfTheProgram(t *testing.T) {
	all := schemas(t)
	for name, message := range map[string]any{
		"trigger": bus.Trigger{}, "event": bus.Event{}, "log": bus.Log{}, "handler": bus.Handler{}, "kill": bus.KillRequest{},
		"attempts": bus.AttemptsRequest{}, "idle": bus.IdleRequest{}, "claim": bus.Claim{}, "drain": fleet.DrainRequest{}, "set": fleet.SetRequest{},
		"start":     bus.StartRequest{},
		"consumers": bus.ConsumersRequest{}, "refused": fleet.Refusal{},
	} {
		want := slices.Sorted(maps.Keys(all[name].Properties))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fieldsOf(reflect.TypeOf(message))))); diff != "" {
			t.Errorf("%s (-schema +program):\n%s", name, diff)
		}
	}
	retry := slices.Sorted(maps.Keys(all["trigger"].Properties["retry"].Properties))
	if diff := cmp.Diff(retry, slices.Sorted(maps.Keys(fieldsOf(reflect.TypeFor[job.Retry]())))); diff != "" {
		t.Errorf("retry of trigger (-schema +program):\n%s", diff)
	}
	heartbeat := fieldsOf(reflect.TypeFor[fleet.Instance]())
	heartbeat["control_secret"], heartbeat["pack"] = true, true
	delete(heartbeat, "reason") // servers say these
	delete(heartbeat, "refused_for")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(all["instance"].Properties)), slices.Sorted(maps.Keys(heartbeat))); diff != "" {
		t.Errorf("instance (-schema +program):\n%s", diff)
	}
	want := slices.Sorted(maps.Keys(all["instance-reply"].Properties["value"].Properties))
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fieldsOf(reflect.TypeFor[fleet.InstanceReply]())))); diff != "" {
		t.Errorf("instance-reply (-schema +program):\n%s", diff)
	}
}

// fieldsOf returns the names that a struct's fields have in JSON.
func fieldsOf(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			names[name] = true
		}
	}
	return names
}
