package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxFile is the greatest size of a file, in bytes.
const maxFile = 8 << 20

// extensions are those of the files of a folder that are read.
var extensions = []string{".yaml", ".yml", ".json"}

// Read returns the documents of the named files in order. A folder stands for the
// YAML and JSON files in it and below it, hidden ones left out; "-" for stdin. The
// error joins an [*Error] for each problem found, in all files, or says which file
// could not be read. A name given twice is a problem of its second document. A script
// whose file a job names, seen from the job's own file, becomes a part of the job.
func Read(paths []string, stdin io.Reader) ([]Document, error) {
	var docs []Document
	var problems []error
	for _, path := range paths {
		files, err := expand(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := load(file, stdin)
			if err != nil {
				return nil, err
			}
			found, err := Parse(displayName(file), data)
			for i := range found {
				problems = append(problems, found[i].inlineScript(filepath.Dir(file)))
			}
			docs, problems = append(docs, found...), append(problems, err)
		}
	}
	problems = append(problems, duplicates(docs)...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return docs, nil
}

// Parse returns the documents in data. file is its name in errors; a name that ends
// in .json, and data that begins like a JSON object, is read as JSON, else as YAML, as
// are documents of JSON that YAML's lines of "---" part.
// The error joins an [*Error] for each document that is wrong; the others are
// returned all the same.
func Parse(file string, data []byte) ([]Document, error) {
	if len(data) > maxFile {
		return nil, &Error{File: file, Reason: tooLarge}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line := 0
	for text := range bytes.Lines(data) {
		if line++; !utf8.Valid(text) {
			return nil, &Error{File: file, Line: line, Reason: "is not UTF-8; save the file in that encoding"}
		}
	}
	if looksLikeJSON(file, data) {
		return parseJSON(file, data)
	}
	return parseYAML(file, data)
}

const tooLarge = "is larger than 8 MiB; divide it into several files"

func looksLikeJSON(file string, data []byte) bool {
	if strings.EqualFold(filepath.Ext(file), ".json") {
		return true
	}
	inner, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(inner), []byte(`"`)) && !bytes.Contains(data, []byte("\n---"))
}

// expand returns the files for which path stands.
func expand(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if !stat.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(name))):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if len(files) == 0 {
		return nil, &Error{File: path, Reason: "has no file that ends in .yaml, .yml or .json"}
	}
	return files, nil
}

// load returns a file's content, but no more than one byte above the limit.
func load(file string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the person who runs the command names it
		if err != nil {
			return nil, fmt.Errorf("read documents: %w", err)
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", displayName(file), err)
	}
	return data, nil
}

func displayName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// duplicates reports every document whose name an earlier one has.
func duplicates(docs []Document) []error {
	type identity struct {
		kind Kind
		name string
	}
	first := map[identity]*Document{}
	var problems []error
	for i := range docs {
		d := &docs[i]
		id := identity{d.Kind, d.Name}
		if other := first[id]; other != nil {
			problems = append(problems, d.Problem(string(d.Kind), fmt.Sprintf("%q is given at %s:%d already", d.Name, other.File, other.lineOf(string(d.Kind)))))
			continue
		}
		first[id] = d
	}
	return problems
}
