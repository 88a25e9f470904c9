package node

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/request"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

// runnerOptions say what an executor runs.
type runnerOptions struct {
	allow     []string
	httpAllow []string
}

func (o *runnerOptions) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.allow, "allow", job.TaskKinds[1:], "task `kinds` to run: shell, command, http, script, or script languages: "+strings.Join(job.Interpreted, ", "))
	f.StringSliceVar(&o.httpAllow, "http-allow", nil, "private `hosts`, addresses and networks that http tasks can call, such as localhost:8080 or 10.0.0.0/8 (default none)")
}

// split returns the kinds that are allowed, and the languages of scripts. A language
// stands for the kind script without the others; shell is a kind.
func (o *runnerOptions) split() (kinds, languages []string, err error) {
	for _, word := range o.allow {
		switch {
		case slices.Contains(job.TaskKinds, word):
			kinds = append(kinds, word)
		case slices.Contains(job.Interpreted, word):
			languages = append(languages, word)
		default:
			return nil, nil, &job.InvalidError{Field: "allow", Reason: fmt.Sprintf("%q must be one of %s, or a script language: %s", word, strings.Join(job.TaskKinds, ", "), strings.Join(job.Interpreted, ", "))}
		}
	}
	if slices.Contains(kinds, job.KindScript) {
		return kinds, job.Interpreted, nil
	}
	if len(languages) > 0 {
		kinds = append(kinds, job.KindScript)
	}
	return kinds, languages, nil
}

// register makes e run what is allowed, and removes what former executors left.
func (o *runnerOptions) register(e *executor.Executor, killAfter time.Duration, log *slog.Logger) error {
	kinds, languages, err := o.split()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program for starlark scripts: %w", err)
	}
	starlark := []string{self, "starlark", "--http-allow", strings.Join(o.httpAllow, ",")}
	if slices.Contains(kinds, job.KindHTTP) {
		if err := request.Register(e, request.Config{Allow: o.httpAllow}); err != nil {
			return err
		}
	} else {
		starlark = append(starlark, "--no-http")
	}
	processes := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return !slices.Contains(shell.Kinds, kind) })
	shell.Register(e, shell.Config{KillAfter: killAfter, Kinds: processes, Languages: languages, Starlark: append(starlark, "--")})
	switch n, err := shell.RemoveLeftovers(""); {
	case err != nil:
		log.Warn("some directories of runs that killed executors left could not be removed", "removed", n, "error", err)
	case n > 0:
		log.Info("directories of runs that killed executors left are removed", "removed", n)
	}
	return nil
}
