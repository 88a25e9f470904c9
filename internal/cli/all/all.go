package all

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/access"
	"github.com/carillon-scheduler/carillon/internal/cli/alert"
	"github.com/carillon-scheduler/carillon/internal/cli/assist"
	"github.com/carillon-scheduler/carillon/internal/cli/cluster"
	"github.com/carillon-scheduler/carillon/internal/cli/elsewhere"
	"github.com/carillon-scheduler/carillon/internal/cli/executor"
	"github.com/carillon-scheduler/carillon/internal/cli/history"
	"github.com/carillon-scheduler/carillon/internal/cli/job"
	"github.com/carillon-scheduler/carillon/internal/cli/manifest"
	"github.com/carillon-scheduler/carillon/internal/cli/pings"
	"github.com/carillon-scheduler/carillon/internal/cli/run"
	"github.com/carillon-scheduler/carillon/internal/cli/top"
	"github.com/carillon-scheduler/carillon/internal/operator"
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
		assist.Commands(),
		WatchCommands(),
		operator.Commands(),
	)
}

// WatchCommands returns the command that runs the commands of other schedulers, with those below it.
func WatchCommands() []*cobra.Command { return elsewhere.Commands(pings.Commands()...) }
