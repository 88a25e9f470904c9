package main

import "github.com/spf13/cobra"

// runCommands returns what is done with runs.
func runCommands() []*cobra.Command {
	return []*cobra.Command{newRunCommand(), newRerunCommand(), newMarkCommand(), newLogsCommand(), newWaitCommand(), newCancelCommand()}
}

// runGetCommands returns what "get" shows of runs.
func runGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetRunsCommand(), newGetRunCommand()}
}
