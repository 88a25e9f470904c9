package main

import "github.com/spf13/cobra"

// clusterCommands returns what is done with the cluster as a whole.
func clusterCommands() []*cobra.Command {
	return []*cobra.Command{newRetentionCommand(), newDeadLetterCommand(), newDiagnosticsCommand(), newEventsCommand(), newVersionCommand()}
}

// clusterGetCommands returns what "get" shows of the cluster.
func clusterGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetNodesCommand(), newGetBusCommand(), newGetHistoryCommand(), newGetRetentionCommand(), newGetDeadLettersCommand(), newGetDeadLetterCommand()}
}
