package node

import "github.com/spf13/cobra"

// Commands returns what runs a process of the system.
func Commands() []*cobra.Command {
	return []*cobra.Command{newDevCommand(), newDemoCommand(), newServerCommand(), newExecutorCommand(), newBridgeCommand(), newStarlarkCommand()}
}
