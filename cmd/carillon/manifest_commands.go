package main

import "github.com/spf13/cobra"

// manifestCommands returns what saves documents.
func manifestCommands() []*cobra.Command {
	return []*cobra.Command{newApplyCommand(), newImportCommand()}
}
