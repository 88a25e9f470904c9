package all

import (
	"slices"

	"github.com/spf13/cobra"

	"carillon/internal/cli"
	"carillon/internal/cli/access"
	"carillon/internal/cli/alert"
	"carillon/internal/cli/cluster"
	"carillon/internal/cli/executor"
	"carillon/internal/cli/history"
	"carillon/internal/cli/job"
	"carillon/internal/cli/manifest"
	"carillon/internal/cli/run"
	"carillon/internal/cli/top"
	"carillon/internal/operator"
)

// Commands returns the commands of every noun.
func Commands() []*cobra.Command {
	get := cli.NewGet(slices.Concat(job.GetCommands(), run.GetCommands(), executor.GetCommands(), cluster.GetCommands(),
		history.GetCommands(), alert.GetCommands(), access.GetCommands())...)
	return slices.Concat(
		[]*cobra.Command{get},
		manifest.Commands(),
		job.Commands(),
		run.Commands(),
		executor.Commands(),
		history.Commands(),
		alert.Commands(),
		access.Commands(operator.UserCommands(), operator.SecretCommands()),
		cluster.Commands(),
		top.Commands(),
		operator.Commands(),
	)
}
