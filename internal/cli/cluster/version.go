package cluster

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// versions are those of the two sides.
type versions struct {
	Client string                `json:"client"`
	Commit string                `json:"commit,omitempty"` // of the client, if it was built in a checkout
	Date   string                `json:"date,omitempty"`   // of the commit
	Server *client.ServerVersion `json:"server,omitempty"`
}

func newVersionCommand() *cobra.Command {
	var alone bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the versions of client and server",
		Example: "  carillon version\n  carillon version --client -o json",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVar(&alone, "client", false, "show the client version only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		v := versions{Client: build.Version()}
		v.Commit, v.Date = build.Commit()
		var away error
		if !alone {
			api, err := r.API()
			if err != nil {
				return err
			}
			if s, err := client.Read[client.ServerVersion](api.GetVersion(cmd.Context())); err == nil {
				v.Server = &s
			} else {
				away = err // after what is known
			}
		}
		if err := r.Show(cmd.OutOrStdout(), v, func(t *draw.Table) {
			t.Row("client", v.Client, runtime.GOOS+"/"+runtime.GOARCH)
			if v.Commit != "" {
				t.Row("commit", v.Commit, v.Date)
			}
			if v.Server != nil {
				t.Row("server", v.Server.Version)
			}
		}); err != nil {
			return err
		}
		return away
	}
	return cmd
}
