package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

const chartFolder = "../../deploy/helm/carillon"

// The chart renders manifests that pass what those of deploy/kubernetes pass. Helm itself lints it in the
// nightly task.
func TestTheChartFitsTheImagesAndTheProgram(t *testing.T) {
	values := chartWithExecutor(t)
	checkManifests(t, renderChart(t, values))

	values["serviceMonitor"], values["ingress"].(map[string]any)["enabled"] = true, true
	kinds := map[string]int{}
	for _, doc := range renderChart(t, values) {
		kinds[fmt.Sprint(inside(doc, "kind"))]++
		if inside(doc, "spec", "template", "metadata", "annotations") != nil {
			t.Error("Prometheus would scrape twice")
		}
	}
	if kinds["Ingress"] != 1 || kinds["ServiceMonitor"] != 1 || kinds["Deployment"] != 2 {
		t.Errorf("the kinds are %v", kinds)
	}
}

// chartWithExecutor returns the values of the chart, with executors of a group.
func chartWithExecutor(t *testing.T) map[string]any {
	t.Helper()
	values := documents(t, "values", deployed(t, "helm/carillon/values.yaml"))[0].(map[string]any)
	values["executors"] = []any{map[string]any{"group": "billing", "secret": "carillon-billing"}}
	return values
}

// renderChart renders the chart with the functions of Helm that its templates use.
func renderChart(t *testing.T, values map[string]any) (docs []any) {
	t.Helper()
	chart := template.New("chart").Option("missingkey=zero")
	chart.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := chart.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"nindent": func(n int, text string) string {
			return "\n" + strings.Repeat(" ", n) + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", n))
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"toJson": func(v any) (string, error) {
			data, err := json.Marshal(v)
			return string(data), err
		},
		"required": func(why string, v any) (any, error) {
			if v == nil || v == "" {
				return nil, errors.New(why)
			}
			return v, nil
		},
		"default": func(otherwise, v any) any {
			if v == nil || v == "" {
				return otherwise
			}
			return v
		},
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
	})
	if _, err := chart.ParseGlob(filepath.Join(chartFolder, "templates", "*")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server.yaml", "executors.yaml"} {
		var b bytes.Buffer
		err := chart.ExecuteTemplate(&b, name, map[string]any{
			"Values": values, "Release": map[string]any{"Name": "carillon", "Namespace": "carillon", "Service": "Helm"},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, documents(t, name, b.Bytes())...)
	}
	return docs
}
