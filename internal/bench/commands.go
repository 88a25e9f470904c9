package bench

import "github.com/spf13/cobra"

// Commands returns bench: what users need to measure their machines.
func Commands() []*cobra.Command {
	return []*cobra.Command{newBenchCommand("bench NAME", "  carillon bench fire --jobs 1000000 --rate 20000 --for 30s\n  carillon bench run -o json", benches, newQueryCommand(), newSeedCommand())}
}

// Tool returns the command of internal/benchtool: the benchmarks with which the project measures itself.
func Tool() *cobra.Command {
	cmd := newBenchCommand("benchtool NAME", "  benchtool herd -o json", more, newScaleCommand())
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd
}
