package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// List is a command that shows what a server has: Fetch asks for it, and Columns makes a table of it.
type List[T any] struct {
	Use     string
	Aliases []string
	Short   string
	Long    string
	Example string
	// Flags adds flags beside the shared ones; nil adds none.
	Flags   func(*cobra.Command)
	Fetch   func(context.Context, *client.API) (T, error)
	Columns func(*draw.Table, T)
	// Export answers in a format that is no [Format], if a flag asks for it; nil never does.
	Export func(*cobra.Command, *client.API) (done bool, err error)
	// One is what is shown instead where the command line names one thing; nil takes no name.
	One *One
}

// One shows one thing of a list, by its name.
type One struct {
	Noun string // in the usage, such as JOB
	Show func(cmd *cobra.Command, r *Remote, name string) error
}

// Named returns what fetches and shows one thing in the way of a [List].
func Named[T any](noun string, fetch func(ctx context.Context, api *client.API, name string) (T, error), fill func(*draw.Table, T)) *One {
	return &One{Noun: noun, Show: func(cmd *cobra.Command, r *Remote, name string) error {
		return show(cmd, r, func(ctx context.Context, api *client.API) (T, error) { return fetch(ctx, api, name) }, fill)
	}}
}

// Command returns the command.
func (l List[T]) Command() *cobra.Command {
	cmd := &cobra.Command{Use: l.Use, Aliases: l.Aliases, Short: l.Short, Long: l.Long, Example: l.Example, Args: NoArgs}
	r := NewRemote(cmd)
	var own []string // the flags that only a list has
	if l.Flags != nil {
		shared := map[string]bool{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { shared[f.Name] = true })
		l.Flags(cmd)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !shared[f.Name] {
				own = append(own, f.Name)
			}
		})
	}
	if l.One != nil {
		cmd.Use += " [" + l.One.Noun + "]"
		cmd.Args = cobra.MaximumNArgs(1)
		if l.One.Noun == "JOB" {
			cmd.ValidArgsFunction = r.JobNames
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return l.show(cmd, r)
		}
		for _, name := range own {
			if cmd.Flags().Changed(name) {
				return Usage(fmt.Errorf("--%s chooses from the list; leave it out, or %s", name, args[0]))
			}
		}
		return l.One.Show(cmd, r, args[0])
	}
	return cmd
}

func (l List[T]) show(cmd *cobra.Command, r *Remote) error {
	if l.Export != nil {
		api, err := r.API()
		if err != nil {
			return err
		}
		if done, err := l.Export(cmd, api); done || err != nil {
			return err
		}
	}
	return show(cmd, r, l.Fetch, l.Columns)
}

// show asks the server, and shows its answer.
func show[T any](cmd *cobra.Command, r *Remote, fetch func(context.Context, *client.API) (T, error), fill func(*draw.Table, T)) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	answer, err := fetch(cmd.Context(), api)
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), answer, func(t *draw.Table) { fill(t, answer) })
}
