package main

import (
	"slices"

	"github.com/spf13/cobra"

	"carillon/internal/cli"
	"carillon/internal/cli/run"
)

// allCommands returns the commands of every noun.
func allCommands() []*cobra.Command {
	get := cli.NewGet(slices.Concat(jobGetCommands(), run.GetCommands(), executorGetCommands(), clusterGetCommands(),
		historyGetCommands(), alertGetCommands(), accessGetCommands())...)
	return slices.Concat(
		[]*cobra.Command{get},
		manifestCommands(),
		jobCommands(),
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
