package operator

import (
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

func newHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Manage which log store keeps the history",
		Example: "  carillon history copy --from sqlite:/var/lib/carillon --nats tls://n1:4222 --nats-keys nats.keys\n" +
			"  carillon history release --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys",
	}
	cmd.AddCommand(newHistoryCopyCommand(), newHistoryReleaseCommand())
	return cmd
}

func newHistoryReleaseCommand() *cobra.Command {
	var o operatorOptions
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Allow another log store to take over the history",
		Long: "Allow the next server that starts to keep the history of the cluster in its log store. Otherwise\n" +
			"servers refuse to start with a second log store, because each store would get a part of the history.\n" +
			"Use this command when you replace the log store: from SQLite to ClickHouse, or after a lost disk.\n" +
			"Stop the servers with the old log store first. Its data is neither moved nor deleted. The command\n" +
			"needs the server keys for NATS.",
		Example: "  carillon history release --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys",
		Args:    cli.NoArgs,
	}
	o.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		conn, err := o.open(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		defer conn.NC.Close()
		if err := conn.Stores().Release(cmd.Context()); err != nil {
			return err
		}
		cmd.Println("the log store of the next server that starts keeps the history")
		return nil
	}
	return cmd
}
