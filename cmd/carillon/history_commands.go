package main

import "github.com/spf13/cobra"

// historyCommands returns what reads the history.
func historyCommands() []*cobra.Command {
	return []*cobra.Command{newSearchCommand(), newReportCommand(), newSQLCommand(), newLedgerCommand(), newAuditLogCommand()}
}

// historyGetCommands returns what "get" shows of fires to come.
func historyGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetFiresCommand()}
}
