package operator

import "github.com/spf13/cobra"

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
		Short: "Let another log store keep the history",
		Long: "Let the log store of the next server that starts keep the history of the cluster. Servers refuse\n" +
			"to start with a second log store, because each would get a part of the history. Use the command\n" +
			"when you replace the log store on purpose: from SQLite to ClickHouse, or after a lost disk. Stop the\n" +
			"servers with the old log store first. What is in it stays there. The command needs the keys of a\n" +
			"server for NATS.",
		Example: "  carillon history release --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys",
		Args:    cobra.NoArgs,
	}
	o.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		conn, err := o.open(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		defer conn.NC.Close()
		if err := conn.ReleaseHistory(cmd.Context()); err != nil {
			return err
		}
		cmd.Println("the log store of the next server that starts keeps the history")
		return nil
	}
	return cmd
}
