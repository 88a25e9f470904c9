package frontend

import (
	"embed"
	"io/fs"
	"net/http"
	"sync"
)

//go:embed all:dist
var dist embed.FS

const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Carillon</title>
<h1>Carillon is running</h1>
<p>This program was built without the web console. With Node 20 or later installed,
<code>task console</code> builds it, and <code>task build</code> or <code>task dev</code>
then puts it into the program.</p>
<p>The HTTP API is at <code>/api/v1</code>, and the command line client
(<code>carillon --help</code>) does all that it can.</p>
`

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
