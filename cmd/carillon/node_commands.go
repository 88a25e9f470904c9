package main

import "github.com/spf13/cobra"

// nodeCommands returns what runs a process of the system.
func nodeCommands() []*cobra.Command {
	return []*cobra.Command{newDevCommand(), newServerCommand(), newExecutorCommand(), newStarlarkCommand()}
}
