package executor

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGetGroupsCommand() *cobra.Command {
	return cli.List[client.GroupList]{
		Use:     "groups",
		Short:   "List executor groups and their live instances",
		Example: "  carillon get groups",
		Fetch: func(ctx context.Context, api *client.API) (client.GroupList, error) {
			return client.Read[client.GroupList](api.ListGroups(ctx))
		},
		Columns: drawGroups,
	}.Command()
}

func newGetHandlersCommand() *cobra.Command {
	var group string
	cmd := cli.List[client.HandlerList]{
		Use:   "handlers",
		Short: "List the handlers of a group and their parameters",
		Long: "List the handlers that the executors of a group have announced, with a description and their\n" +
			"parameters. -o json and -o yaml include the JSON schemas that the server checks jobs against.",
		Example: "  carillon get handlers --group billing\n  carillon get handlers -g billing -o json",
		Fetch: func(ctx context.Context, api *client.API) (client.HandlerList, error) {
			if err := job.CheckSlug("group", group); err != nil {
				return client.HandlerList{}, cli.Usage(err)
			}
			return client.Read[client.HandlerList](api.ListHandlers(ctx, group))
		},
		Columns: drawHandlers,
	}.Command()
	cli.GroupFlag(cmd, &group)
	return cmd
}
