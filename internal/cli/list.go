package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// NewList makes cmd show a list that is asked for without any filter.
func NewList[L any](cmd *cobra.Command, list func(context.Context, *client.API) (L, error), fill func(*draw.Table, L)) *cobra.Command {
	cmd.Args = cobra.NoArgs
	r := NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		found, err := list(cmd.Context(), api)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), found, func(t *draw.Table) { fill(t, found) })
	}
	return cmd
}
