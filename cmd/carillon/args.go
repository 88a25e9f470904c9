package main

import (
	"carillon/job"
	"errors"
	"fmt"
)

// exactlyOne reports whether one of the given is true, and no other.
func exactlyOne(given ...bool) bool {
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	return n == 1
}

// eachOf calls do for each argument, whatever becomes of those before it. With
// several arguments an error says to which it belongs.
func eachOf(args []string, do func(string) error) error {
	var errs []error
	for _, arg := range args {
		if err := do(arg); err != nil {
			if len(args) > 1 {
				err = fmt.Errorf("%s: %w", arg, err)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// jobName reads an argument that names a job.
func jobName(arg string) (job.Name, error) {
	name, err := job.ParseName(arg)
	return name, usage(err)
}

// runID reads an argument that names a run.
func runID(arg string) (job.RunID, error) {
	id, err := job.ParseRunID(arg)
	return id, usage(err)
}

// words returns texts of one type as another.
func words[To, From ~string](from []From) []To {
	all := make([]To, len(from))
	for i, w := range from {
		all[i] = To(w)
	}
	return all
}
