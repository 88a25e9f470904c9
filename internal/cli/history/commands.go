package history

import "github.com/spf13/cobra"

// Commands returns what reads the history.
func Commands() []*cobra.Command {
	return []*cobra.Command{newSearchCommand(), newReportCommand(), newSQLCommand(), newLedgerCommand(), newWhyCommand(), newAuditLogCommand()}
}

// GetCommands returns what "get" shows of fires to come.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetFiresCommand()}
}
