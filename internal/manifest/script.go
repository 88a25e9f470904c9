package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
)

// scriptFile is the field, within a task, that only files have: the name of a script's own file, seen
// from theirs. What is read of it takes its place, as source.
const scriptFile = ".script.file"

// inlineScript puts the scripts that the document names by their files into it.
func (d *Document) inlineScript(folder string) error {
	if d.Kind != Job || !d.namesScripts() {
		return nil
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(d.JSON, &document); err != nil {
		return fmt.Errorf("decode %s: %w", d.Name, err)
	}
	if err := d.inlineTask(document, "task", folder); err != nil {
		return err
	}
	var steps []map[string]json.RawMessage
	if json.Unmarshal(document["steps"], &steps) == nil && len(steps) > 0 { // of another type, the server refuses them
		for i, step := range steps {
			if err := d.inlineTask(step, fmt.Sprintf("steps[%d].task", i), folder); err != nil {
				return err
			}
		}
		if err := set(document, "steps", steps); err != nil {
			return err
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("encode %s: %w", d.Name, err)
	}
	d.JSON = text
	return d.checkSize()
}

// namesScripts reports whether a script is named by its file.
func (d *Document) namesScripts() bool {
	for field := range d.lines {
		if strings.HasSuffix(field, "task"+scriptFile) {
			return true
		}
	}
	return false
}

// inlineTask does so for the task of a job or step; field is where that is in the document.
func (d *Document) inlineTask(of map[string]json.RawMessage, field, folder string) error {
	if _, named := d.lines[field+scriptFile]; !named {
		return nil
	}
	field += scriptFile
	var task, script map[string]json.RawMessage
	var name string
	if json.Unmarshal(of["task"], &task) != nil ||
		json.Unmarshal(task["script"], &script) != nil || json.Unmarshal(script["file"], &name) != nil || name == "" {
		return d.Problem(field, "must be the name of a file")
	}
	if script["source"] != nil || script["digest"] != nil {
		return d.Problem(field, "is given, and source or digest too")
	}
	source, err := readScript(folder, name)
	if err != nil {
		return d.Problem(field, err.Error())
	}
	delete(script, "file")
	return errors.Join(set(script, "source", source), set(task, "script", script), set(of, "task", task))
}

// set gives a field of an object a value.
func set(object map[string]json.RawMessage, field string, value any) (err error) {
	if object[field], err = json.Marshal(value); err != nil {
		return fmt.Errorf("encode %s: %w", field, err)
	}
	return nil
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
