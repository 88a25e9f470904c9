package frontend

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed all:dist
var dist embed.FS

const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Carillon</title>
<h1>Carillon is running</h1>
<p>This program was built without the web console. The console comes with a later
release; it will be built by <code>task frontend:build</code>, and
<code>task build</code> then puts it into the program.</p>
<p>The HTTP API is at <code>/api/v1</code>, and the command line client
(<code>carillon --help</code>) does all that it can.</p>
`

// Handler serves the console: its files by name, and index.html for every other
// path, since the console routes by itself. A path below /assets/ that is no file
// is not found, so that an old page does not take HTML for a script.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("BUG: embedded files have no dist: " + err.Error())
	}
	return handler(files)
}

func handler(files fs.FS) http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		switch info, err := fs.Stat(files, name); {
		case err == nil && !info.IsDir() && name != "index.html" && !strings.HasPrefix(name, "."):
			if strings.HasPrefix(name, "assets/") { // their names change with their content
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			}
			server.ServeHTTP(w, r)
		case strings.HasPrefix(name, "assets/"):
			http.NotFound(w, r)
		default:
			serveIndex(w, files)
		}
	})
}

func serveIndex(w http.ResponseWriter, files fs.FS) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		page = []byte(unbuilt)
	}
	_, _ = w.Write(page) // the reader is gone: nobody is left to tell
}
