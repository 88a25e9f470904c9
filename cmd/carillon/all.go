package main

import (
	"slices"

	"github.com/spf13/cobra"

	"carillon/internal/cli"
	"carillon/internal/cli/job"
	"carillon/internal/cli/manifest"
	"carillon/internal/cli/run"
)

// allCommands returns the commands of every noun.
func allCommands() []*cobra.Command {
	get := cli.NewGet(slices.Concat(job.GetCommands(), run.GetCommands(), executorGetCommands(), clusterGetCommands(),
		historyGetCommands(), alertGetCommands(), accessGetCommands())...)
	return slices.Concat(
		[]*cobra.Command{get},
		manifest.Commands(),
		job.Commands(),
		run.Commands(),
		executorCommands(),
		historyCommands(),
		alertCommands(),
		accessCommands(operatorUserCommands(), operatorSecretCommands()),
		clusterCommands(),
		topCommands(),
		operatorCommands(),
	)
}
