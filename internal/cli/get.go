package cli

import "github.com/spf13/cobra"

// NewGet returns the command that shows things. Each noun is a subcommand.
func NewGet(nouns ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List or show jobs, runs, users and everything else",
		Long: "List or show jobs, runs, nodes, executor groups, incidents, users and all other resources. The\n" +
			"default is a table with times in the local time zone. -o wide shows more columns, and cuts only the\n" +
			"text of tasks. -o json and -o yaml print what the API returns, with times in UTC.",
		Example: "  carillon get jobs --group ops\n" +
			"  carillon get runs --status running --watch\n" +
			"  carillon get runs --job ops/backup --status failed --since 24h\n" +
			"  carillon get runs 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n" +
			"  carillon get nodes -o json",
	}
	for _, noun := range nouns {
		watchable(noun)
	}
	cmd.AddCommand(nouns...)
	return cmd
}
