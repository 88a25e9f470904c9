package main

import "github.com/spf13/cobra"

// benchCommands returns bench.
func benchCommands() []*cobra.Command {
	return []*cobra.Command{newBenchCommand()}
}
