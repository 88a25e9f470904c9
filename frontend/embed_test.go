package frontend

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func get(t *testing.T, h http.Handler, path string) (status int, body string, header http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w.Code, w.Body.String(), w.Header()
}

func TestAnUnbuiltConsoleSaysHowItWillBeBuilt(t *testing.T) {
	h := handler(fstest.MapFS{".keep": {}})
	for _, path := range []string{"/", "/jobs/billing/x", "/.keep"} {
		if status, body, _ := get(t, h, path); status != http.StatusOK || !strings.Contains(body, "task frontend:build") {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
}

func TestEveryPathButAFilesIsTheConsole(t *testing.T) {
	h := handler(fstest.MapFS{
		"index.html":      {Data: []byte("the console")},
		"assets/app-1.js": {Data: []byte("script")},
	})
	for _, path := range []string{"/", "/index.html", "/jobs", "/jobs/a/b", "/..%2f..%2fetc/passwd"} {
		if status, body, header := get(t, h, path); status != http.StatusOK || body != "the console" || header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %q %v", path, status, body, header)
		}
	}
	if status, body, header := get(t, h, "/assets/app-1.js"); status != http.StatusOK || body != "script" || !strings.Contains(header.Get("Cache-Control"), "immutable") {
		t.Errorf("asset: %d %q %v", status, body, header)
	}
	if status, _, _ := get(t, h, "/assets/app-0.js"); status != http.StatusNotFound {
		t.Errorf("an old asset: %d, want 404", status)
	}
}
