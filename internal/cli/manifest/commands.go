package manifest

import "github.com/spf13/cobra"

// Commands returns what saves documents.
func Commands() []*cobra.Command {
	return []*cobra.Command{newApplyCommand(), newImportCommand()}
}
