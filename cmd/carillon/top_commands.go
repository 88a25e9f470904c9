package main

import "github.com/spf13/cobra"

// topCommands returns top.
func topCommands() []*cobra.Command {
	return []*cobra.Command{newTopCommand()}
}
