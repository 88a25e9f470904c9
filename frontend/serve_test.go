package frontend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// get returns the answer to a request; headers are names and values in turn.
func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func aBuild() fstest.MapFS {
	return fstest.MapFS{
		".keep":              {},
		"index.html":         {Data: []byte("the console")},
		"assets/app-1.js.br": {Data: []byte("br")},
		"assets/app-1.js.gz": {Data: packed("script")},
		"assets/geist.woff2": {Data: []byte("font")},
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, werr := w.Write([]byte(text))
	if err := errors.Join(werr, w.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestAnUnbuiltConsoleSaysHowToBuildIt(t *testing.T) {
	h := handler(fstest.MapFS{".keep": {}})
	for _, path := range []string{"/", "/jobs/billing/x", "/.keep"} {
		if r := get(h, path); r.Code != http.StatusOK || !strings.Contains(r.Body.String(), "task console") {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}

func TestEveryPathButAFilesIsTheConsole(t *testing.T) {
	h := handler(aBuild())
	for _, path := range []string{"/", "/index.html", "/jobs", "/jobs/a/b", "/.keep", "/..%2f..%2fetc/passwd", "/assets.js"} {
		r := get(h, path)
		if text := r.Body.String(); r.Code != http.StatusOK || text != "the console" || r.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %q %v", path, r.Code, text, r.Header())
		}
	}
	for _, path := range []string{"/assets/app-0.js", "/assets/app-1.js.br", "/assets/app-1.js.gz", "/assets/"} {
		if r := get(h, path); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, r.Code)
		}
	}
}

func TestAnAssetIsSentInTheSmallestFormThatTheClientTakes(t *testing.T) {
	h := handler(aBuild())
	f := func(accept, wantEncoding, wantBody string) {
		t.Helper()
		r := get(h, "/assets/app-1.js", "Accept-Encoding", accept)
		text := r.Body.String()
		if got := r.Header().Get("Content-Encoding"); got != wantEncoding || text != wantBody {
			t.Errorf("accept %q: %q %q, want %q %q", accept, got, text, wantEncoding, wantBody)
		}
		if r.Header().Get("Vary") != "Accept-Encoding" || !strings.Contains(r.Header().Get("Cache-Control"), "immutable") ||
			r.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("accept %q: headers %v", accept, r.Header())
		}
	}
	f("gzip, deflate, br", "br", "br")
	f("gzip", "gzip", string(packed("script")))
	f("br;q=0, gzip;q=0.5", "gzip", string(packed("script")))
	f("br; q=0.0, gzip;q=0", "", "script")
	f("", "", "script")
	font := get(h, "/assets/geist.woff2", "Accept-Encoding", "br, gzip")
	if text := font.Body.String(); text != "font" || font.Header().Get("Content-Encoding") != "" || font.Header().Get("Vary") != "" {
		t.Errorf("a font: %q %v", text, font.Header())
	}
}

func TestAFormThatTheClientHasIsNotSentAgain(t *testing.T) {
	h := handler(aBuild())
	for _, accept := range []string{"", "br", "gzip"} {
		etag := get(h, "/assets/app-1.js", "Accept-Encoding", accept).Header().Get("ETag")
		for _, known := range []string{etag, `"other", W/` + etag, "*"} {
			r := get(h, "/assets/app-1.js", "Accept-Encoding", accept, "If-None-Match", known)
			if text := r.Body.String(); r.Code != http.StatusNotModified || text != "" || r.Header().Get("ETag") != etag {
				t.Errorf("accept %q, known %s: %d %q", accept, known, r.Code, text)
			}
		}
	}
	br := get(h, "/assets/app-1.js", "Accept-Encoding", "br").Header().Get("ETag")
	if r := get(h, "/assets/app-1.js", "Accept-Encoding", "gzip", "If-None-Match", br); r.Code != http.StatusOK {
		t.Errorf("another form's ETag: %d, want 200", r.Code)
	}
}

func TestAHeadHasTheHeadersOfAGetAndNoBody(t *testing.T) {
	w := httptest.NewRecorder()
	handler(aBuild()).ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", http.NoBody))
	if w.Header().Get("Content-Length") != "11" || w.Body.Len() != 0 {
		t.Errorf("length %q, body %q", w.Header().Get("Content-Length"), w.Body)
	}
}
