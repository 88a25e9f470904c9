package carillon_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// TestTheContractsHaveTheWordsOfTheModel compares lists that are written by hand, in the API's contract
// and in the schema of triggers, with those of the model.
func TestTheContractsHaveTheWordsOfTheModel(t *testing.T) {
	type property struct {
		Enum       []string            `json:"enum"       yaml:"enum"`
		Properties map[string]property `json:"properties" yaml:"properties"`
	}
	var contract struct {
		Components struct {
			Schemas map[string]property `yaml:"schemas"`
		} `yaml:"components"`
	}
	read := func(file string, unmarshal func([]byte, any) error, into any) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err == nil {
			err = unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read("api/openapi.yaml", yaml.Unmarshal, &contract)
	var trigger property
	read("bus/schema/trigger.json", json.Unmarshal, &trigger)

	schema := contract.Components.Schemas
	for name, c := range map[string]struct{ got, want any }{
		"routes of the API":                  {schema["Job"].Properties["route"].Enum, words(job.Routes)},
		"kinds of channels of the API":       {schema["Channel"].Properties["kind"].Enum, words(alerting.Kinds)},
		"languages of the API":               {schema["ScriptTask"].Properties["language"].Enum, job.Languages},
		"languages of the trigger's schema":  {trigger.Properties["task"].Properties["script"].Properties["language"].Enum, job.Languages},
		"kinds of tasks of the API":          {having(schema["Task"].Properties, job.TaskKinds), job.TaskKinds},
		"kinds of tasks of trigger's schema": {having(trigger.Properties["task"].Properties, job.TaskKinds), job.TaskKinds},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-model +contract):\n%s", name, diff)
		}
	}
}

func words[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, word := range list {
		texts[i] = string(word)
	}
	return texts
}

// having returns those of the words that m has.
func having[V any](m map[string]V, words []string) (found []string) {
	for _, w := range words {
		if _, ok := m[w]; ok {
			found = append(found, w)
		}
	}
	return found
}
