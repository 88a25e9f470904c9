package cluster

import "github.com/spf13/cobra"

// Commands returns what is done with the cluster as a whole.
func Commands() []*cobra.Command {
	return []*cobra.Command{newRetentionCommand(), newDeadLetterCommand(), newDiagnosticsCommand(), newEventsCommand(), newVersionCommand()}
}

// GetCommands returns what "get" shows of the cluster.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetNodesCommand(), newGetBusCommand(), newGetHistoryCommand(), newGetRetentionCommand(), newGetDeadLettersCommand()}
}
