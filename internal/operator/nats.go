package operator

import (
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
)

func newNATSCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nats",
		Short:   "Configure and run NATS for Carillon",
		Example: "  carillon nats keygen --file nats.keys\n  carillon nats config --keys nats.keys --file nats.conf\n  carillon nats serve --config nats.conf",
	}
	cmd.AddCommand(newNATSKeygenCommand(), newNATSConfigCommand(), newNATSServeCommand())
	return cmd
}

func newNATSKeygenCommand() *cobra.Command {
	var operator, reader bool
	var file string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Create the keys that authenticate Carillon servers to NATS",
		Long: "Create the keys that authenticate Carillon servers to NATS, and print them. Pass them to servers\n" +
			"with --nats-keys or " + keyfile.NATSKeysVariable + ". \"carillon nats config\" gives NATS the public halves.\n" +
			"Anyone with these keys has full access. With --operator it is the key of a NATS administrator,\n" +
			"for \"nats --nkey FILE server ...\" and \"carillon nats config --operator FILE\". With --log-reader\n" +
			"it is the key of a program that reads log lines, for \"carillon nats config --log-reader NAME=FILE\".",
		Example: "  carillon nats keygen --file nats.keys\n  carillon nats keygen --operator --file operator.nk",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if operator || reader {
				seed, err := callout.NewOperator()
				if err != nil {
					return err
				}
				return handOutKey(cmd, seed, file)
			}
			keys, err := callout.NewKeys()
			if err != nil {
				return err
			}
			return handOutKey(cmd, keys.Text(), file)
		},
	}
	keyFileFlag(cmd, &file)
	cmd.Flags().BoolVar(&reader, "log-reader", false, "create the key of a program that may read log lines, and nothing else")
	cmd.Flags().BoolVar(&operator, "operator", false, "create the key of a NATS administrator, who may report on NATS servers and remove lost ones")
	cmd.MarkFlagsMutuallyExclusive("operator", "log-reader")
	return cmd
}
