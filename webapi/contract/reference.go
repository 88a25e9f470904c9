package contract

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

var (
	//go:embed reference.html
	referenceHTML string
	//go:embed reference.css
	referenceCSS string
)

// referencePage is the contract as people read it: the API's reference, in one page
// without a script or anything from elsewhere.
type referencePage struct {
	Title, Version, About string
	CSS                   template.CSS
	Sections              []referenceSection
	Schemas               []referenceSchema
}

type referenceSection struct {
	Name, About string
	Operations  []referenceOperation
}

type referenceOperation struct {
	ID, Method, Path, Summary, About, Needs string
	Parameters                              []referenceField
	Body                                    *referenceType
	Responses                               []referenceField
}

type referenceSchema struct {
	Name, About string
	Fields      []referenceField
	Type        referenceType
}

type referenceField struct {
	Name, In, About string
	Required        bool
	Type            referenceType
}

// referenceType is a type in words; Link is the name of the schema that it is of.
type referenceType struct{ Before, Link, After string }

// ServeReference answers GET /api/docs. The page is made once.
func (c *Contract) ServeReference() fiber.Handler {
	page := sync.OnceValues(func() ([]byte, error) { return renderReference(c.Doc) })
	sum := sha256.Sum256([]byte(referenceCSS))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	return func(c *fiber.Ctx) error {
		html, err := page()
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
		c.Set(fiber.HeaderContentSecurityPolicy, policy)
		return c.Send(html)
	}
}

// Serve answers GET /api/openapi.yaml.
func Serve(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	return c.Send(api.Contract)
}

func renderReference(doc *openapi3.T) ([]byte, error) {
	page := referencePage{Title: doc.Info.Title, Version: doc.Info.Version, About: doc.Info.Description, CSS: template.CSS(referenceCSS)} //nolint:gosec // our own file
	for _, tag := range doc.Tags {
		page.Sections = append(page.Sections, referenceSection{Name: tag.Name, About: tag.Description, Operations: operationsOf(doc, tag.Name)})
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		page.Schemas = append(page.Schemas, schemaOf(name, doc.Components.Schemas[name].Value))
	}
	t, err := template.New("reference").Parse(referenceHTML)
	if err != nil {
		return nil, fmt.Errorf("read template of the reference: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("render the reference: %w", err)
	}
	return out.Bytes(), nil
}

// methods are in the order in which people look for them.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func operationsOf(doc *openapi3.T, tag string) (all []referenceOperation) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !slices.Contains(op.Tags, tag) {
				continue
			}
			o := referenceOperation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, About: op.Description, Needs: needsOf(op.OperationID)}
			for _, p := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
				o.Parameters = append(o.Parameters, referenceField{Name: p.Value.Name, In: p.Value.In, About: p.Value.Description, Required: p.Value.Required, Type: typeOf(p.Value.Schema)})
			}
			if op.RequestBody != nil {
				if json := op.RequestBody.Value.Content[fiber.MIMEApplicationJSON]; json != nil {
					o.Body = new(typeOf(json.Schema))
				}
			}
			for status, r := range op.Responses.Map() {
				f := referenceField{Name: status}
				if r.Value.Description != nil {
					f.About = *r.Value.Description
				}
				for _, media := range r.Value.Content {
					f.Type = typeOf(media.Schema)
				}
				o.Responses = append(o.Responses, f)
			}
			slices.SortFunc(o.Responses, func(a, b referenceField) int { return strings.Compare(a.Name, b.Name) })
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b referenceOperation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), slices.Index(methods, a.Method)-slices.Index(methods, b.Method))
	})
	return all
}

// needsOf says who may do an operation, from the table that judges.
func needsOf(operation string) string {
	p := access.Permits[operation]
	text := "the role " + string(p.Role)
	if p.Grant != "" {
		text += " and the grant " + string(p.Grant)
	}
	switch p.Where {
	case access.Open:
		return "nothing: anybody may"
	case access.Self:
		return "sign-in"
	case access.Somewhere:
		return text + " in some group; it tells of those only"
	case access.Everywhere:
		return text + " everywhere"
	case access.Asking:
		return text + " and the grants sql, logs and params everywhere"
	case access.OfPath, access.OfRun, access.OfIncident:
	}
	if p.Role == rights.Viewer && p.Grant == "" {
		return text + " in the group"
	}
	return text + " in the group of what is named"
}

func schemaOf(name string, s *openapi3.Schema) referenceSchema {
	out := referenceSchema{Name: name, About: s.Description, Type: typeOf(&openapi3.SchemaRef{Value: s})}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		ref := s.Properties[field]
		out.Fields = append(out.Fields, referenceField{Name: field, About: ref.Value.Description, Required: slices.Contains(s.Required, field), Type: typeOf(ref)})
	}
	return out
}

const schemaPrefix = "#/components/schemas/"

func typeOf(ref *openapi3.SchemaRef) referenceType {
	if ref == nil || ref.Value == nil {
		return referenceType{}
	}
	if name, ok := strings.CutPrefix(ref.Ref, schemaPrefix); ok {
		return referenceType{Link: name}
	}
	s := ref.Value
	switch {
	case len(s.AllOf) == 1:
		return typeOf(s.AllOf[0])
	case s.Items != nil:
		of := typeOf(s.Items)
		return referenceType{Before: "list of " + of.Before, Link: of.Link, After: of.After}
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			words = append(words, fmt.Sprint(v))
		}
		return referenceType{Before: strings.Join(words, ", ")}
	case s.Type == nil:
		return referenceType{Before: "any value"}
	}
	text := strings.Join(s.Type.Slice(), " or ")
	if s.Format != "" {
		text += " (" + s.Format + ")"
	}
	return referenceType{Before: text}
}
