package workflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/workflow"
)

// values are what the references of these tests mean.
var values = map[string]string{
	"params":          `{"region":"eu","id":9007199254740993,"n":null,"deep":{"a":[{"b":true}]},"html":"<&>"}`,
	"results.list":    `{"files":["a","b"],"total":2.50}`,
	"results.empty":   ``,
	"workflow.run_id": `"r1"`,
}

func value(r workflow.Reference) (json.RawMessage, error) {
	whole := r
	whole.Path, whole.Optional = nil, false
	data, ok := values[whole.String()]
	if !ok {
		return nil, errors.New(whole.String() + " is not known")
	}
	return json.RawMessage(data), nil
}

func TestReferencesAreReplacedByTheirValues(t *testing.T) {
	same := func(text, want string) {
		t.Helper()
		got, err := workflow.Fill(json.RawMessage(text), value)
		if err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v; want %s", text, got, err, want)
		}
	}
	same(`"${params.region}"`, `"eu"`)
	same(`"${params.id}"`, `9007199254740993`)
	same(`"n${params.id}"`, `"n9007199254740993"`)
	same(`"${results.list.total}"`, `2.50`)
	same(`{"a":["${results.list.files[1]}"],"b":"${results.list}"}`, `{"a":["b"],"b":{"files":["a","b"],"total":2.50}}`)
	same(`"${params.deep.a[0].b} in ${params.region}"`, `"true in eu"`)
	same(`"${params.gone?}"`, `null`)
	same(`"${results.empty}"`, `null`)
	same(`"${results.list.files[7]?}"`, `null`)
	same(`"$${params.region} ${HOME} ${fire_time|-1d|yyyy} $${HOME} ${"`, `"${params.region} ${HOME} ${fire_time|-1d|yyyy} $${HOME} ${"`)
	same(`"${paramsx} ${results-of}"`, `"${paramsx} ${results-of}"`)
	same(`"${params.html}"`, `"<&>"`)
	same(`"${workflow.run_id}"`, `"r1"`)
	same(`{"z":1.0,"a":1e3,"t":"x"}`, `{"a":1e3,"t":"x","z":1.0}`)
	same(``, `null`)
}

func TestAReferenceThatCannotBeReplacedSaysWhy(t *testing.T) {
	wrong := func(text, want string) {
		t.Helper()
		if got, err := workflow.Fill(json.RawMessage(text), value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s becomes %s, %v; want %q", text, got, err, want)
		}
	}
	wrong(`"${results.list.row}"`, "results.list has no field row; it has files, total")
	wrong(`"${results.list.files[2]}"`, "results.list.files has no [2]; it is a list of 2")
	wrong(`"${results.list.files.name}"`, "results.list.files is a list and has no field name; write results.list.files[0].name")
	wrong(`"${params.region.x}"`, "params.region is neither an object nor a list and has no x")
	wrong(`"${params[0]}"`, "params is an object and has no [0]")
	wrong(`"${results.empty.x}"`, "results.empty is null and has no x")
	wrong(`"at ${params.n}"`, "params.n is null, which cannot be part of a text")
	wrong(`"at ${params.deep}"`, "params.deep is an object or a list, which cannot be part of a text")
	wrong(`"${results}"`, "${results} must name a step")
	wrong(`"${results[0]}"`, "${results[0]} must name a step")
	wrong(`"${results.a[x]}"`, "must be a place in a list, such as [0]")
	wrong(`"${params.a..b}"`, `"" must be the name of a field`)
	wrong(`"${workflow.name}"`, "${workflow.name} must be one of ${workflow.run_id} and ${workflow.status}")
	wrong(`"${params`+strings.Repeat(".a", 33)+`}"`, "has more than 32 parts")
	wrong(`{`, "read parameters")
}

func TestReferencesAreFoundInTheirOrder(t *testing.T) {
	found, err := workflow.References(json.RawMessage(`{"b":["${results.x.y?}","$${results.z}"],"a":"${params} and ${workflow.status}"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range found {
		got = append(got, r.String())
	}
	if strings.Join(got, " ") != "params workflow.status results.x.y?" {
		t.Errorf("the references are %v", got)
	}
}

func FuzzFill(f *testing.F) {
	f.Add(`"${params.region} $${results.list} ${results.list.files[0]?}"`)
	f.Add(`{"a":["${params.deep.a[0].b}"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := workflow.Fill(json.RawMessage(text), value)
		if err == nil && !json.Valid(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
