package operator

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/job"
)

// keyFileFlag adds the flag for the file that a key goes to.
func keyFileFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "file", "", "write to this new `file`, readable by its owner only, instead of printing")
}

// handOutKey writes a key to a new file, or prints it without one.
func handOutKey(cmd *cobra.Command, key, file string) error {
	if file == "" {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), key)
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the file that the person names
	switch {
	case errors.Is(err, os.ErrExist):
		return &job.InvalidError{Field: "file", Reason: file + " is there already"}
	case err != nil:
		return fmt.Errorf("create file of the key: %w", err)
	}
	_, err = fmt.Fprintln(f, key)
	return errors.Join(err, f.Close())
}
