package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package of ours, as go list tells of it.
type pkg struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
	EmbedFiles                         []string // relative to Dir
}

// list returns the packages of the modules of the workspace.
func list(ctx context.Context) ([]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,EmbedFiles", "work")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// changedFiles returns the files of the change, with their whole paths.
func changedFiles(ctx context.Context) ([]string, error) {
	root, err := output(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	base, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	if left, err := output(ctx, "git", "merge-base", "HEAD", "main"); err == nil { // a clone may have no main
		base = left
	}
	files, err := output(ctx, "git", "diff", "--name-only", base[0])
	if err != nil {
		return nil, err
	}
	fresh, err := output(ctx, "git", "ls-files", "--others", "--exclude-standard", "--full-name", root[0])
	if err != nil {
		return nil, err
	}
	files = append(files, fresh...)
	for i, f := range files {
		files[i] = filepath.Join(root[0], f)
	}
	return files, nil
}

// goFiles returns those of the files that are Go and still there.
func goFiles(files []string) (found []string) {
	for _, f := range files {
		if _, err := os.Stat(f); err == nil && strings.HasSuffix(f, ".go") {
			found = append(found, f)
		}
	}
	return found
}

// touched returns the packages to which the files belong: that of the file's folder, or of
// the nearest one above, whose test data or embedded file it may be. The module's own files
// belong to the package in its root.
func touched(packages []pkg, files []string) []string {
	at := map[string]string{}
	for _, p := range packages {
		at[p.Dir] = p.ImportPath
	}
	found := map[string]bool{}
	var names []string
	for _, f := range files {
		for dir := filepath.Dir(f); ; dir = filepath.Dir(dir) {
			if name, ok := at[dir]; ok {
				if !found[name] {
					found[name] = true
					names = append(names, name)
				}
				break
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// toTest returns the packages that a change of the files may break, the likeliest first.
func toTest(packages []pkg, files []string) []string {
	embedded := map[string]bool{}
	for _, p := range packages {
		for _, f := range p.EmbedFiles {
			embedded[filepath.Join(p.Dir, f)] = true
		}
	}
	// What those feel who import a file's package: its code and what it embeds, no test, no page.
	felt := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		return !embedded[f] && (!strings.HasSuffix(f, ".go") || strings.HasSuffix(f, "_test.go"))
	})
	order := nearestFirst(packages, touched(packages, felt))
	var alone []string
	for _, name := range touched(packages, files) {
		if !slices.Contains(order, name) {
			alone = append(alone, name)
		}
	}
	return append(alone, order...)
}

// isConsole reports whether a file is one of the console's, which npm checks.
func isConsole(file string) bool {
	return strings.Contains(file, "/frontend/") && !strings.HasSuffix(file, ".go")
}

// nearestFirst returns the given packages and all that import them, or whose tests do: in
// the order of how many steps an import is away, and by name.
func nearestFirst(packages []pkg, from []string) []string {
	users := map[string][]string{}
	for _, p := range packages {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			users[imported] = append(users[imported], p.ImportPath)
		}
	}
	order := slices.Clone(from)
	known := map[string]bool{}
	for _, name := range order {
		known[name] = true
	}
	for next := from; len(next) > 0; {
		var further []string
		for _, name := range next {
			for _, user := range users[name] {
				if !known[user] {
					known[user] = true
					further = append(further, user)
				}
			}
		}
		slices.Sort(further)
		order, next = append(order, further...), further
	}
	return order
}
