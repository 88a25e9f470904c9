package frontend

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
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
		".built-from":        {Data: []byte("a hash")},
		"index.html":         {Data: []byte("the console")},
		"assets/app-1.js":    {Data: []byte("script")},
		"assets/geist.woff2": {Data: []byte("font")},
	}
}

// unpacked returns what an answer's body holds.
func unpacked(t *testing.T, r *httptest.ResponseRecorder) string {
	t.Helper()
	if r.Header().Get("Content-Encoding") == "" {
		return r.Body.String()
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var reference = regexp.MustCompile(`(?:src|href)="([^"/][^"]*)"`)

// The program has the console on a machine without Node, too: it is in the repository, whole.
func TestTheProgramHasTheConsole(t *testing.T) {
	h := Handler()
	found := reference.FindAllStringSubmatch(unpacked(t, get(h, "/")), -1)
	if len(found) < 4 {
		t.Fatalf("index.html refers to %v", found)
	}
	for _, name := range found {
		r := get(h, "/"+name[1], "Accept-Encoding", "gzip")
		if r.Code != http.StatusOK || strings.HasPrefix(r.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %v", name[1], r.Code, r.Header())
		}
	}
}

// asBrowser is what browsers accept when somebody opens an address.
const asBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"

func TestEveryPathButAFilesIsTheConsoleToABrowser(t *testing.T) {
	h := handler(aBuild())
	for _, path := range []string{"/", "/index.html", "/jobs", "/jobs/a/b", "/.built-from", "/..%2f..%2fetc/passwd", "/assets.js", "/pings"} {
		r := get(h, path, "Accept", asBrowser)
		if text := r.Body.String(); r.Code != http.StatusOK || text != "the console" || r.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %q %v", path, r.Code, text, r.Header())
		}
	}
	for _, path := range []string{
		"/assets/app-0.js", "/assets/app-1.js.gz", "/assets/", "/api", "/api/v1/none", "/ping", "/ping/", "/ping/token", "/ping/token//end", "//ping/token",
		"/metrics/", "/metrics/x", "/healthz/", "/readyz/x",
	} {
		if r := get(h, path, "Accept", asBrowser); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, r.Code)
		}
	}
}

// A program with a wrong address must not take the console for success, as curl -f does with a 200.
func TestAnUnknownPathIsNotFoundByPrograms(t *testing.T) {
	h := handler(aBuild())
	for _, accept := range []string{"", "*/*", "application/json", "text/*", "text/html;q=0", "text/htmlx"} {
		for _, path := range []string{"/pong/token", "/jobs/a/b"} {
			if r := get(h, path, "Accept", accept); r.Code != http.StatusNotFound || strings.Contains(r.Body.String(), "token") {
				t.Errorf("%s for %q: %d %q, want 404", path, accept, r.Code, r.Body)
			}
		}
		if r := get(h, "/", "Accept", accept); r.Code != http.StatusOK {
			t.Errorf("/ for %q: %d, want 200", accept, r.Code)
		}
	}
	for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		r := httptest.NewRequest(method, "/jobs", http.NoBody)
		r.Header.Set("Accept", asBrowser)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusNotFound {
			t.Errorf("%s /jobs: %d, want 404", method, w.Code)
		}
	}
}

func TestTextIsPackedForAClientThatTakesIt(t *testing.T) {
	h := handler(aBuild())
	f := func(accept, wantEncoding string) {
		t.Helper()
		r := get(h, "/assets/app-1.js", "Accept-Encoding", accept)
		got := r.Header().Get("Content-Encoding")
		if length := strconv.Itoa(r.Body.Len()); r.Header().Get("Content-Length") != length {
			t.Errorf("accept %q: length %s, want %s", accept, r.Header().Get("Content-Length"), length)
		}
		if text := unpacked(t, r); got != wantEncoding || text != "script" {
			t.Errorf("accept %q: %q %q, want %q", accept, got, text, wantEncoding)
		}
		if r.Header().Get("Vary") != "Accept-Encoding" || !strings.Contains(r.Header().Get("Cache-Control"), "immutable") ||
			r.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("accept %q: headers %v", accept, r.Header())
		}
	}
	f("gzip, deflate, br", "gzip")
	f("gzip", "gzip")
	f("br;q=0, gzip;q=0.5", "gzip")
	f("br; q=0.0, gzip;q=0", "")
	f("br", "")
	f("", "")
	font := get(h, "/assets/geist.woff2", "Accept-Encoding", "br, gzip")
	if text := font.Body.String(); text != "font" || font.Header().Get("Content-Encoding") != "" || font.Header().Get("Vary") != "" {
		t.Errorf("a font: %q %v", text, font.Header())
	}
}

func TestAFormThatTheClientHasIsNotSentAgain(t *testing.T) {
	h := handler(aBuild())
	for _, accept := range []string{"", "gzip"} {
		etag := get(h, "/assets/app-1.js", "Accept-Encoding", accept).Header().Get("ETag")
		for _, known := range []string{etag, `"other", W/` + etag, "*"} {
			r := get(h, "/assets/app-1.js", "Accept-Encoding", accept, "If-None-Match", known)
			if text := r.Body.String(); r.Code != http.StatusNotModified || text != "" || r.Header().Get("ETag") != etag {
				t.Errorf("accept %q, known %s: %d %q", accept, known, r.Code, text)
			}
		}
	}
	plain := get(h, "/assets/app-1.js").Header().Get("ETag")
	if r := get(h, "/assets/app-1.js", "Accept-Encoding", "gzip", "If-None-Match", plain); r.Code != http.StatusOK {
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
