package run

import (
	"errors"

	"github.com/spf13/cobra"
)

// key is the text for which a job makes one run, as flags say it.
type key struct {
	text  string
	reset bool
}

// keyFlags are the names of its flags.
var keyFlags = []string{"key", "reset-key"}

// flags adds --key and --reset-key to a command.
func (k *key) flags(cmd *cobra.Command) {
	cmd.Flags().Func("key", "make one run for this `text`, however often the command is repeated within 7 days", func(text string) error {
		if text == "" { // such as a variable of the shell that is not set
			return errors.New("must not be empty")
		}
		k.text = text
		return nil
	})
	cmd.Flags().BoolVar(&k.reset, "reset-key", false, "make another run for the key if its run has ended")
}
