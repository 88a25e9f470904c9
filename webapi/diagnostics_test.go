package webapi

import (
	"archive/zip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unzip returns the files of an archive by their names.
func unzip(t *testing.T, data string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

func TestDiagnosticsHaveTheStateAndNoSecrets(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	h := g.handlers()
	h.settings = map[string]string{"nats": "nats://…@n1:4222"}
	doc := document("billing/x", "@daily")
	doc["task"], doc["params"] = map[string]any{"shell": "echo s3cret-task"}, map[string]any{"key": "s3cret-param"}
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", doc, ann.headers()...)
	run := begun("billing/x", noon)
	g.history(run)
	g.print(run, 1)

	a := g.send("POST", "/api/v1/diagnostics", nil, ann.headers()...)
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.text)
	}
	files := unzip(t, a.text)
	var names []string
	for name, text := range files {
		names = append(names, name)
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON: %s", name, text)
		}
		for _, secret := range []string{"s3cret", "line 1", ann.cookie[strings.Index(ann.cookie, "=")+1:]} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
	slices.Sort(names)
	expected := []string{
		"README.txt", "bus.json", "cluster.json", "groups.json", "health.json", "history.json", "metrics.txt", "nodes.json", "pause.json",
		"retention.json", "settings.json", "store.json", "version.json",
	}
	if diff := cmp.Diff(expected, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !strings.Contains(files["metrics.txt"], "carillon_http_request_seconds_bucket{") {
		t.Errorf("metrics: %.200s", files["metrics.txt"])
	}
	if !strings.Contains(files["settings.json"], "nats://…@n1:4222") || !strings.Contains(files["bus.json"], `"TRIG"`) {
		t.Errorf("settings %s, bus %.200s", files["settings.json"], files["bus.json"])
	}
	entry := ann.entries("operation=collectDiagnostics")
	if len(entry) != 1 || entry[0].Object != "diagnostics" || entry[0].User != "ann" {
		t.Errorf("audit: %+v", entry)
	}

	h.profiles = true
	files = unzip(t, g.send("POST", "/api/v1/diagnostics", nil, ann.headers()...).text)
	if !strings.Contains(files["goroutines.txt"], "CollectDiagnostics") {
		t.Errorf("goroutines: %.200s", files["goroutines.txt"])
	}
}
