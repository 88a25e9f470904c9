package top

import "github.com/spf13/cobra"

// Commands returns top.
func Commands() []*cobra.Command {
	return []*cobra.Command{newTopCommand()}
}
