package node

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpAllFlag shows all flags of a command.
const helpAllFlag = "help-all"

// brief shortens a command's help to the flags that most people need. --help-all shows the others, too.
func brief(cmd *cobra.Command, common ...string) {
	all := cmd.Flags().Bool(helpAllFlag, false, "show all flags")
	common = append(common, "help", helpAllFlag)
	usage := cmd.UsageFunc()
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if !*all {
			var hidden []*pflag.Flag
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !slices.Contains(common, f.Name) {
					f.Hidden, hidden = true, append(hidden, f)
				}
			})
			defer func() {
				for _, f := range hidden { // completion offers them
					f.Hidden = false
				}
			}()
		}
		return usage(c)
	})
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if *all {
			return pflag.ErrHelp
		}
		return before(cmd, args)
	}
}
