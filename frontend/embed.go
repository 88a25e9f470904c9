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
// path that a browser opens, since the console routes by itself. For anything but a
// GET that accepts text/html, and below /api, /assets, /mcp, /ping and the paths of probes,
// an unknown path is not found: no program takes the console for an answer.
func Handler() http.Handler { return built() }

// built reads the embedded files once, however many servers a process has.
var built = sync.OnceValue(func() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("BUG: embedded files have no dist: " + err.Error())
	}
	return handler(files)
})
