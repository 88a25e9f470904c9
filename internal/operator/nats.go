package operator

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
)

func newNATSCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nats",
		Short:   "Configure and run NATS for Carillon",
		Example: "  (umask 077; carillon nats keygen > nats.keys)\n  carillon nats config --keys nats.keys > nats.conf\n  carillon nats serve --config nats.conf",
	}
	cmd.AddCommand(newNATSKeygenCommand(), newNATSConfigCommand(), newNATSServeCommand())
	return cmd
}

func newNATSKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen",
		Short: "Create the keys that authenticate Carillon servers to NATS",
		Long: "Create the keys that authenticate Carillon servers to NATS, and print them. Pass them to servers\n" +
			"with --nats-keys or " + keyfile.NATSKeysVariable + ". \"carillon nats config\" gives NATS the public halves.\n" +
			"Anyone with these keys has full access.",
		Example: "  (umask 077; carillon nats keygen > nats.keys)",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := callout.NewKeys()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), keys.Text())
			return err
		},
	}
}
