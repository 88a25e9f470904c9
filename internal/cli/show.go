package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// NewShow makes cmd show what ask returns. It has no arguments, and the shared flags only.
func NewShow[T any](cmd *cobra.Command, ask func(context.Context, *client.API) (T, error), fill func(*draw.Table, T)) *cobra.Command {
	cmd.Args = cobra.NoArgs
	r := NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		answer, err := ask(cmd.Context(), api)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), answer, func(t *draw.Table) { fill(t, answer) })
	}
	return cmd
}
