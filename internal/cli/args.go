package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/job"
)

// NoArgs refuses arguments, and says where files are named instead if the command reads some.
func NoArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("file") != nil:
		return fmt.Errorf("%q is one argument too many: name files with -f", args[0])
	}
	return fmt.Errorf("%q is one argument too many: %s takes none", args[0], cmd.CommandPath())
}

// ExactlyOne reports whether one of the given is true, and no other.
func ExactlyOne(given ...bool) bool {
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	return n == 1
}

// Each calls do for each argument, whatever becomes of those before it. With
// several arguments an error says to which it belongs.
func Each(args []string, do func(string) error) error {
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

// JobName reads an argument that names a job.
func JobName(arg string) (job.Name, error) {
	name, err := job.ParseName(arg)
	return name, Usage(err)
}

// RunID reads an argument that names a run.
func RunID(arg string) (job.RunID, error) {
	id, err := job.ParseRunID(arg)
	return id, Usage(err)
}

// Words returns texts of one type as another.
func Words[To, From ~string](from []From) []To {
	all := make([]To, len(from))
	for i, w := range from {
		all[i] = To(w)
	}
	return all
}
