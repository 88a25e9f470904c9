package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// starlark is the language whose interpreter is a part of Carillon.
const starlark = "starlark"

// interpreter says how scripts of a language are run.
type interpreter struct {
	suffix string
	// lines are command lines. The first one whose program exists is used.
	lines [][]string
}

// interpreters has those of [job.Interpreted] that the machine brings along.
var interpreters = map[string]interpreter{
	"shell":  {".sh", [][]string{{"bash"}, {"sh"}}},
	"python": {".py", [][]string{{"python3", "-u"}, {"python", "-u"}}}, // lines come as they are printed
	"node":   {".js", [][]string{{"node"}}},
	"php":    {".php", [][]string{{"php"}}},
	"powershell": {".ps1", [][]string{
		{"pwsh", "-NoProfile", "-NonInteractive", "-File"},
		{"powershell", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"},
	}},
}

// interpreter returns the command line that runs a script of a language, and the
// suffix of the script's file.
func (r *runner) interpreter(language string) (line []string, suffix string, err error) {
	if language == job.Groovy {
		return nil, "", errors.New(reason.GroovyElsewhere.String())
	}
	if !slices.Contains(r.cfg.Languages, language) {
		return nil, "", errors.New(reason.LanguageNotAllowed.With(language, strings.Join(r.cfg.Languages, ", ")))
	}
	if language == starlark {
		if len(r.cfg.Starlark) == 0 {
			return nil, "", errors.New("this executor has no interpreter for starlark scripts")
		}
		return r.cfg.Starlark, ".star", nil
	}
	i := interpreters[language]
	var programs []string
	for _, line := range i.lines {
		if _, err := exec.LookPath(line[0]); err == nil {
			return line, i.suffix, nil
		}
		programs = append(programs, line[0])
	}
	return nil, "", errors.New(reason.NoInterpreter.With(language, strings.Join(programs, " and no ")))
}

// scriptLine puts the script's file into the run's directory, where it is as private as
// the run, and returns what to run.
func (r *runner) scriptLine(ctx context.Context, run *executor.Run, dir *directories) ([]string, error) {
	line, suffix, err := r.interpreter(run.Trigger().Task.Script.Language)
	if err != nil {
		return nil, err
	}
	source, err := r.scripts.of(ctx, run)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir.own, run.Job().Short()+suffix) // tracebacks name it
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return nil, fmt.Errorf("write the script's file: %w", err)
	}
	return slices.Concat(line, []string{file}, run.Arguments()), nil
}

// maxScripts bounds the scripts that are remembered, in bytes.
const maxScripts = 16 << 20

// scripts remembers the texts of scripts, so that each is fetched once.
type scripts struct {
	mu       sync.Mutex
	byDigest map[string]string
	size     int
}

// of returns the text of the run's script.
func (s *scripts) of(ctx context.Context, run *executor.Run) (string, error) {
	script := run.Trigger().Task.Script
	if script.Source != "" {
		return script.Source, nil
	}
	key := run.Job().Group() + "." + script.Digest
	s.mu.Lock()
	source, known := s.byDigest[key]
	s.mu.Unlock()
	if known {
		return source, nil
	}
	source, err := run.Script(ctx)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, job.ErrNotFound):
		return "", errors.New(reason.ScriptGone.With(script.Digest))
	case err != nil:
		return "", fmt.Errorf("fetch the script: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDigest == nil || s.size+len(source) > maxScripts {
		s.byDigest, s.size = map[string]string{}, 0 // what is in use comes back soon
	}
	s.byDigest[key] = source
	s.size += len(source)
	return source, nil
}
