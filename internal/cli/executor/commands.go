package executor

import "github.com/spf13/cobra"

// Commands returns what is done with groups of executors and their instances.
func Commands() []*cobra.Command {
	return []*cobra.Command{newDrainCommand(), newCordonCommand(), newUncordonCommand(), newSetCommand(), newGroupCommand()}
}

// GetCommands returns what "get" shows of executors.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetGroupsCommand(), newGetHandlersCommand()}
}
