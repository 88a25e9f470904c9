package bench

import "github.com/spf13/cobra"

// Commands returns bench.
func Commands() []*cobra.Command {
	return []*cobra.Command{newBenchCommand()}
}
