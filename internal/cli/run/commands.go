package run

import "github.com/spf13/cobra"

// Commands returns what is done with runs.
func Commands() []*cobra.Command {
	return []*cobra.Command{newRunCommand(), newRerunCommand(), newRetryCommand(), newResolveCommand(), newApproveCommand(), newRejectCommand(), newSignalCommand(), newMarkCommand(), newLogsCommand(), newWaitCommand(), newCancelCommand()}
}

// GetCommands returns what "get" shows of runs.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetRunsCommand(), newGetStepsCommand(), newGetApprovalsCommand(), newGetDeadlinesCommand()}
}
