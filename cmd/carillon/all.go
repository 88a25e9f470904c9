package main

import (
	"slices"

	"github.com/spf13/cobra"

	"carillon/internal/cli"
	"carillon/internal/cli/access"
	"carillon/internal/cli/alert"
	"carillon/internal/cli/executor"
	"carillon/internal/cli/job"
	"carillon/internal/cli/manifest"
	"carillon/internal/cli/run"
)

// allCommands returns the commands of every noun.
func allCommands() []*cobra.Command {
	get := cli.NewGet(slices.Concat(job.GetCommands(), run.GetCommands(), executor.GetCommands(), clusterGetCommands(),
		historyGetCommands(), alert.GetCommands(), access.GetCommands())...)
	return slices.Concat(
		[]*cobra.Command{get},
		manifest.Commands(),
		job.Commands(),
		run.Commands(),
		executor.Commands(),
		historyCommands(),
		alert.Commands(),
		access.Commands(operatorUserCommands(), operatorSecretCommands()),
		clusterCommands(),
		topCommands(),
		operatorCommands(),
	)
}
