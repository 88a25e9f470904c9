package manifest

import "github.com/spf13/cobra"

// Commands returns what saves documents, and writes them.
func Commands() []*cobra.Command {
	return []*cobra.Command{newApplyCommand(), newExportCommand(), newImportCommand(), newPromoteCommand()}
}
