package frontend

import (
	"embed"
	"io/fs"
	"net/http"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// Handler serves the console: its files by name, and index.html for every other
// path, since the console routes by itself. A path below /assets/ that is no file
// is not found, so that an old page does not take HTML for a script.
func Handler() http.Handler { return built() }

// built reads the embedded files once, however many servers a process has.
var built = sync.OnceValue(func() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("BUG: embedded files have no dist: " + err.Error())
	}
	return handler(files)
})
