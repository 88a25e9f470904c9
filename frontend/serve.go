package frontend

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	immutable  = "public, max-age=31536000, immutable"
	revalidate = "no-cache"
)

// asset is one file in the forms in which it can be sent.
type asset struct {
	contentType  string
	cacheControl string
	etag         string
	identity     []byte
	gzip         func() []byte // nil for a file that gzip makes no smaller
}

// handler returns a handler over a build. It reads all files at once and panics when
// one cannot be read, since they lie in the program itself.
func handler(files fs.FS) http.Handler {
	assets := load(files)
	index := assets["index.html"]
	if index == nil {
		panic("BUG: embedded files have no index.html")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		a := assets[name]
		switch {
		case a != nil:
			a.serve(w, r)
		case name == "" || isPage(name, r):
			index.serve(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// notPages are the first names of paths that are never a page of the console: a program must not take
// the console for the answer of an API.
var notPages = []string{"api", "assets", "healthz", "mcp", "metrics", "ping", "readyz"}

// isPage reports whether a request is that of a browser for a page of the console: a GET that accepts HTML.
func isPage(name string, r *http.Request) bool {
	first, _, _ := strings.Cut(name, "/")
	return r.Method == http.MethodGet && !slices.Contains(notPages, first) &&
		slices.ContainsFunc(r.Header.Values("Accept"), func(list string) bool { return accepts(list, "text/html") })
}

func load(files fs.FS) map[string]*asset {
	assets := map[string]*asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		assets[name] = newAsset(name, data)
		return nil
	})
	if err != nil {
		panic("BUG: embedded files cannot be read: " + err.Error())
	}
	return assets
}

// pack returns the gzip form of data.
func pack(data []byte) []byte {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		panic("BUG: a buffer takes no data: " + err.Error())
	}
	return packed.Bytes()
}

// newAsset makes the asset of a file. Its gzip form is made when a client first asks
// for it: a console that nobody opens costs nothing.
func newAsset(name string, data []byte) *asset {
	sum := sha256.Sum256(data)
	a := &asset{
		contentType:  typeOf(name),
		cacheControl: revalidate,
		etag:         base64.RawURLEncoding.EncodeToString(sum[:12]),
		identity:     data,
	}
	if isText(name) {
		a.gzip = sync.OnceValue(func() []byte { return pack(data) })
	}
	if strings.HasPrefix(name, "assets/") {
		a.cacheControl = immutable
	}
	return a
}

// isText reports whether gzip makes a file smaller. Fonts and pictures are packed already.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".html", ".js", ".css", ".svg", ".txt":
		return true
	}
	return false
}

// typeOf names the types that a build has itself: what package mime knows depends on
// the machine.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

// serve answers with the smallest form that the client takes. Each form has an ETag
// of its own, as they differ in bytes.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	body, encoding := a.choose(r.Header.Get("Accept-Encoding"))
	etag := `"` + a.etag + `"`
	h := w.Header()
	if encoding != "" {
		etag = `"` + a.etag + "-" + encoding + `"`
	}
	if a.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", a.cacheControl)
	if matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Type", a.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader is gone: nobody is left to tell
	}
}

func (a *asset) choose(accept string) (body []byte, encoding string) {
	if a.gzip != nil && accepts(accept, "gzip") {
		return a.gzip(), "gzip"
	}
	return a.identity, ""
}

// accepts reports whether an Accept or Accept-Encoding header takes what it names so.
func accepts(header, name string) bool {
	for part := range strings.SplitSeq(header, ",") {
		named, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(named), name) {
			value, isWeight := strings.CutPrefix(strings.ReplaceAll(q, " ", ""), "q=")
			return !isWeight || strings.Trim(value, "0.") != ""
		}
	}
	return false
}

// matches reports whether an If-None-Match header names etag.
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if candidate := strings.TrimSpace(part); candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
			return true
		}
	}
	return false
}
