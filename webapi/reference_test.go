package webapi

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carillon-scheduler/carillon/webapi/contract"
)

func TestTheReferenceHasEveryOperationAndNothingFromElsewhere(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.Local = false }) // nobody needs to sign in for it
	page := w.send("GET", "/api/docs", nil)
	if page.status != http.StatusOK || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", page.status, page.header.Get("Content-Type"))
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page.text, -1) {
		if ids[m[1]] {
			t.Errorf("id %s is there twice", m[1])
		}
		ids[m[1]] = true
	}
	for path, item := range w.server.contract.Doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !ids[op.OperationID] {
				t.Errorf("%s %s, %s, is not in the reference; has it a tag that is declared?", method, path, op.OperationID)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(page.text, -1) {
		switch name, here := strings.CutPrefix(m[1], "#"); {
		case here && !ids[name]:
			t.Errorf("a link leads to #%s, which is not there", name)
		case !here && !strings.HasPrefix(m[1], "/"):
			t.Errorf("something is from elsewhere: %s", m[1])
		}
	}
	if strings.Contains(page.text, "<script") || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-") {
		t.Errorf("policy %s", page.header.Get("Content-Security-Policy"))
	}
	text := w.send("GET", "/api/openapi.yaml", nil)
	if _, err := openapi3.NewLoader().LoadFromData([]byte(text.text)); err != nil {
		t.Error(err)
	}
}

// The contract is linted here: what a reader of it or a generator would stumble over.
func TestTheContractIsCompleteInItself(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Doc.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
	declared := map[string]bool{}
	for _, tag := range c.Doc.Tags {
		declared[tag.Name] = true
		if tag.Description == "" {
			t.Errorf("tag %s says nothing", tag.Name)
		}
	}
	seen := map[string]bool{}
	for path, item := range c.Doc.Paths.Map() {
		for method, op := range item.Operations() {
			is := method + " " + path
			if op.Summary == "" || strings.HasSuffix(op.Summary, ".") {
				t.Errorf("%s: its summary must be there, without a period: %q", is, op.Summary)
			}
			if seen[op.OperationID] {
				t.Errorf("%s: %s is another operation's name too", is, op.OperationID)
			}
			seen[op.OperationID] = true
			if len(op.Tags) != 1 || !declared[op.Tags[0]] {
				t.Errorf("%s: must have one tag that is declared, has %v", is, op.Tags)
			}
			if strings.HasPrefix(path, "/api/v1/") && op.Responses.Default() == nil {
				t.Errorf("%s: says nothing of problems", is)
			}
			for _, p := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
				if p.Value.In == openapi3.ParameterInPath && !strings.Contains(path, "{"+p.Value.Name+"}") {
					t.Errorf("%s: its path has no %s", is, p.Value.Name)
				}
			}
		}
	}
}
