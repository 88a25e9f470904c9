package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
)

// scriptFile is the field that only files have: the name of a script's own file, seen
// from theirs. What is read of it takes its place, as source.
const scriptFile = "task.script.file"

// inlineScript puts the script that the document names by its file into it.
func (d *Document) inlineScript(folder string) error {
	if _, named := d.lines[scriptFile]; !named || d.Kind != Job {
		return nil
	}
	var document, task, script map[string]json.RawMessage
	var name string
	if json.Unmarshal(d.JSON, &document) != nil || json.Unmarshal(document["task"], &task) != nil ||
		json.Unmarshal(task["script"], &script) != nil || json.Unmarshal(script["file"], &name) != nil || name == "" {
		return d.Problem(scriptFile, "must be the name of a file")
	}
	if script["source"] != nil || script["digest"] != nil {
		return d.Problem(scriptFile, "is given, and source or digest too")
	}
	source, err := readScript(folder, name)
	if err != nil {
		return d.Problem(scriptFile, err.Error())
	}
	delete(script, "file")
	for _, part := range []struct {
		of    map[string]json.RawMessage
		field string
		value any
	}{{script, "source", source}, {task, "script", script}, {document, "task", task}} {
		if part.of[part.field], err = json.Marshal(part.value); err != nil {
			return fmt.Errorf("encode %s: %w", d.Name, err)
		}
	}
	if d.JSON, err = json.Marshal(document); err != nil {
		return fmt.Errorf("encode %s: %w", d.Name, err)
	}
	return d.checkSize()
}

// readScript returns the text of a script. Its error reads on after the field's name.
func readScript(folder, name string) (string, error) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(folder, name)
	}
	stat, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%q does not exist: there is no %s", name, path)
	case err != nil:
		return "", fmt.Errorf("%q cannot be read: %w", name, err)
	case !stat.Mode().IsRegular():
		return "", fmt.Errorf("%q is no plain file", name)
	case stat.Size() > job.MaxScript:
		return "", fmt.Errorf("%q has %d bytes; a script may have at most %d", name, stat.Size(), job.MaxScript)
	}
	data, err := os.ReadFile(path) //nolint:gosec // the person who runs the command names it
	switch {
	case err != nil:
		return "", fmt.Errorf("%q cannot be read: %w", name, err)
	case len(data) == 0:
		return "", fmt.Errorf("%q is empty", name)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%q is not text in UTF-8", name)
	}
	return string(data), nil
}
