package operator

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/audit"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

func newUserRecoverCommand() *cobra.Command {
	var o operatorOptions
	var public string
	cmd := &cobra.Command{
		Use:   "recover NAME",
		Short: "Recover access: make a user an administrator through NATS",
		Long: "Make a user an administrator who can sign in, creating the user if needed, and print a one-time\n" +
			"link to choose a password. Use it when no administrator can sign in. The command does not use the\n" +
			"API; it needs the keys of a server for NATS, which give full access anyway. The audit log records\n" +
			"it.",
		Example: "  carillon user recover ann --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys --public-url https://carillon.example.org",
		Args:    cobra.ExactArgs(1),
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&public, "public-url", cli.DefaultServer, "public `address` of the server, for the link")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		conn, err := o.open(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		defer conn.NC.Close()
		secret, expires, err := recoverUser(cmd.Context(), conn, args[0])
		if err != nil {
			return err
		}
		cmd.Printf("%s is now an administrator. Choose a password with this one-time link, valid until %s:\n%s/sign-in#invitation=%s\n",
			args[0], cli.ClockOf(cmd).Instant(expires), strings.TrimSuffix(public, "/"), secret)
		return nil
	}
	return cmd
}

// recoverUser recovers a user, with an entry in the audit log.
func recoverUser(ctx context.Context, conn *cluster.Conn, name string) (secret string, expires time.Time, err error) {
	log := audit.New(conn, nil)
	e := &trail.Entry{User: operatorName(), How: string(rights.ByLocal), Operation: "recoverUser", Object: "user " + name, Result: trail.Unknown}
	if err := log.Begin(ctx, e); err != nil {
		return "", time.Time{}, err
	}
	users := auth.NewDirectory(conn, nil)
	following, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- users.Run(following) }()
	secret, expires, err = users.Recover(ctx, name)
	stop()
	err = errors.Join(err, <-ended)
	if err != nil {
		log.Drop(ctx, e)
		return "", time.Time{}, err
	}
	e.Result = trail.Done
	log.End(ctx, e)
	return secret, expires, nil
}
