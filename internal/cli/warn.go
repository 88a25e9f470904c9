package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/client"
)

// Warn prints what is probably wrong with something that was saved, beside what the command prints.
func Warn(cmd *cobra.Command, warnings []client.FieldError) {
	for _, w := range warnings {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s %s\n", w.Field, w.Reason)
	}
}
