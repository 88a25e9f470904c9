package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// The cases of the clients in all languages have requests that the contract takes, and answers that it has.
func TestTheCasesOfTheClientsFitTheContract(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../client/testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	type message struct {
		Method, Path string
		Query        map[string]string
		Body         json.RawMessage
		Status       int
	}
	var file struct {
		Cases []struct {
			Name   string
			Server []struct{ Request, Answer message }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, one := range file.Cases {
		for _, x := range one.Server {
			op := operationAt(c.Doc, x.Request.Method, x.Request.Path)
			if op == nil {
				t.Errorf("%s: there is no %s %s", one.Name, x.Request.Method, x.Request.Path)
				continue
			}
			for name := range x.Request.Query {
				if op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
					t.Errorf("%s: %s has no parameter %s", one.Name, op.OperationID, name)
				}
			}
			if len(x.Request.Body) > 0 {
				checked++
				err := checkSchema(x.Request.Body, op.RequestBody.Value.Content["application/json"].Schema.Value)
				if err != nil && (x.Answer.Status != http.StatusBadRequest || !bytes.Contains(x.Answer.Body, []byte(err.Error()))) {
					t.Errorf("%s: the request: %v, which the answer does not say", one.Name, err)
				}
			}
			if len(x.Answer.Body) == 0 {
				continue
			}
			answer, kind := op.Responses.Status(x.Answer.Status), "application/json"
			if x.Answer.Status >= http.StatusBadRequest {
				answer, kind = op.Responses.Default(), "application/problem+json"
			}
			if answer == nil {
				t.Errorf("%s: %s does not answer %d", one.Name, op.OperationID, x.Answer.Status)
				continue
			}
			checked++
			if err := checkSchema(x.Answer.Body, answer.Value.Content[kind].Schema.Value); err != nil {
				t.Errorf("%s: the answer: %v", one.Name, err)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d bodies were checked: the test reads past them", checked)
	}
}

// operationAt returns the operation of a path without templates; nil if there is none.
func operationAt(doc *openapi3.T, method, path string) *openapi3.Operation {
	parts := strings.Split(path, "/")
	for template, item := range doc.Paths.Map() {
		names := strings.Split(template, "/")
		fits := len(names) == len(parts)
		for i := 0; fits && i < len(names); i++ {
			fits = names[i] == parts[i] || strings.HasPrefix(names[i], "{")
		}
		if fits && item.GetOperation(method) != nil {
			return item.GetOperation(method)
		}
	}
	return nil
}
