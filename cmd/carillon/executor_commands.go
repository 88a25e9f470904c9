package main

import "github.com/spf13/cobra"

// executorCommands returns what is done with groups of executors and their instances.
func executorCommands() []*cobra.Command {
	return []*cobra.Command{newDrainCommand(), newCordonCommand(), newUncordonCommand(), newSetCommand(), newGroupCommand()}
}

// executorGetCommands returns what "get" shows of executors.
func executorGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetGroupsCommand(), newGetHandlersCommand()}
}
