package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
)

func newCredentialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "credential",
		Short: "Manage the credentials of executors",
		Long: "Executors connect to NATS with a credential. A credential belongs to one executor group and gives\n" +
			"access to the jobs of that group only. Its secret part, the seed, is shown once.",
		Example: "  carillon credential create web1 -g billing --file billing.seed\n  carillon get credentials -g billing\n" +
			"  carillon credential rotate cx4hq2m7zk3wd5t -g billing --file new.seed\n  carillon credential revoke cx4hq2m7zk3wd5t -g billing",
	}
	cmd.AddCommand(newCredentialCreateCommand(), newCredentialRotateCommand(), newCredentialRevokeCommand())
	return cmd
}

// seedFlag adds the flag for the file that a seed goes to.
func seedFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "file", "", "write the seed to this new `file`, readable by its owner only, instead of showing it")
}

// handOut shows a credential, with its seed unless that goes to a file.
func handOut(r *cli.Remote, cmd *cobra.Command, made client.NewCredential, file string) error {
	if file != "" {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the file that the person names
		if err == nil {
			_, err = fmt.Fprintln(f, made.Seed)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("keep the seed of credential %s, which is lost; revoke it: %w", made.Credential.ID, err)
		}
		made.Seed = ""
	}
	return r.Show(cmd.OutOrStdout(), made, func(t *draw.Table) {
		t.Row("credential", made.Credential.ID)
		t.Row("name", made.Credential.Name)
		t.Row("group", made.Credential.Group)
		t.Row("until", until(t, made.Credential))
		if file != "" {
			t.Row("seed", "in "+file)
			t.Line("")
			if groups := made.Credential.BridgeGroups; len(groups) > 0 {
				t.Line("Connect: carillon bridge xxl-job --groups " + strings.Join(groups, ",") + " --credential " + file +
					" --nats tls://HOST:4222 --nats-ca CA.pem --access-token-file TOKENS")
				return
			}
			t.Line("Connect: carillon executor -g " + made.Credential.Group + " --credential " + file + " --nats tls://HOST:4222 --nats-ca CA.pem")
			t.Line("Your own program signs in with the seed, and uses the inbox prefix _INBOX_" + made.Credential.Group + ".")
			return
		}
		t.Row("seed", made.Seed)
		t.Line("")
		t.Line("The seed is shown only once.")
	})
}

func until(t *draw.Table, c client.Credential) string {
	switch {
	case c.Expired:
		return "expired"
	case c.ExpiresAt == nil:
		return "it is revoked"
	}
	return t.Instant(*c.ExpiresAt)
}

func newCredentialCreateCommand() *cobra.Command {
	var group, file string
	var bridged []string
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a credential and show its seed once",
		Long: "Create a credential for the executors of a group. The name says where or what it is used for. Pass\n" +
			"the seed to executors with --credential or " + keyfile.CredentialVariable + ". Any number of instances can\n" +
			"share a credential. With --bridge-groups, it is for a bridge, which serves several groups.",
		Example: "  carillon credential create web1 -g billing --file billing.seed\n  carillon executor -g billing --credential billing.seed --nats tls://n1:4222\n" +
			"  carillon credential create contractor -g billing --expires-in 30d\n" +
			"  carillon credential create bridge1 -g billing --bridge-groups billing,payroll --file bridge.seed",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cli.GroupFlag(cmd, &group)
	seedFlag(cmd.Flags(), &file)
	cmd.Flags().Var(cli.OptionalDuration(&life), "expires-in", "how long it is valid, such as 90d (default: until it is revoked)")
	cmd.Flags().StringSliceVar(&bridged, "bridge-groups", nil, "make it for a bridge (carillon bridge xxl-job) that serves these `groups`, of which -g is one")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(job.CheckSlug("group", group), isNew(file)); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		made, err := client.Read[client.NewCredential](api.CreateCredential(cmd.Context(), group, nil, client.CredentialRequest{Name: args[0], ExpiresIn: job.Duration(life), BridgeGroups: bridged}))
		if err != nil {
			return err
		}
		return handOut(r, cmd, made, file)
	}
	return cmd
}

// isNew returns an error when a file is there already: before a seed is made that would
// have no place.
func isNew(file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Lstat(file); err == nil {
		return &job.InvalidError{Field: "file", Reason: file + " is there already"}
	}
	return nil
}

func newGetCredentialsCommand() *cobra.Command {
	return newGroupList(cli.List[client.CredentialList]{
		Use:     "credentials",
		Short:   "List the credentials of a group",
		Example: "  carillon get credentials -g billing",
		Columns: drawCredentials,
	}, func(ctx context.Context, api *client.API, group string) (client.CredentialList, error) {
		return client.Read[client.CredentialList](api.ListCredentials(ctx, group))
	})
}

// newGroupList returns a command that lists what a group has.
func newGroupList[T any](l cli.List[T], list func(ctx context.Context, api *client.API, group string) (T, error)) *cobra.Command {
	var group string
	l.Flags = func(cmd *cobra.Command) { cli.GroupFlag(cmd, &group) }
	l.Fetch = func(ctx context.Context, api *client.API) (none T, err error) {
		if err := job.CheckSlug("group", group); err != nil {
			return none, cli.Usage(err)
		}
		return list(ctx, api, group)
	}
	return l.Command()
}

func drawCredentials(t *draw.Table, list client.CredentialList) {
	if len(list.Items) == 0 {
		t.Line("no credentials")
		return
	}
	t.Row("CREDENTIAL", "NAME", "CREATED", "BY", "UNTIL", "REPLACES")
	for _, c := range list.Items {
		t.Row(c.ID, t.Cell(c.Name, 40), t.Instant(c.CreatedAt), t.Cell(c.Author, 20), until(t, c), c.Replaces)
	}
}

func newCredentialRotateCommand() *cobra.Command {
	var group, file string
	overlap := 24 * time.Hour
	cmd := &cobra.Command{
		Use:   "rotate CREDENTIAL",
		Short: "Replace a credential; the old one keeps working for a while",
		Long: "Create a new credential with the same name and show its seed once. The old credential works for\n" +
			"--overlap: restart the executors with the new seed within that time. Then its connections are\n" +
			"closed.",
		Example: "  carillon credential rotate cx4hq2m7zk3wd5t -g billing --file new.seed --overlap 1h",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cli.GroupFlag(cmd, &group)
	seedFlag(cmd.Flags(), &file)
	cmd.Flags().Var(cli.OptionalDuration(&overlap), "overlap", "how long the old credential stays valid, at most 30d; 0s revokes it now")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(job.CheckSlug("group", group), isNew(file)); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		made, err := client.Read[client.NewCredential](api.RotateCredential(cmd.Context(), group, args[0], nil, client.RotationRequest{Overlap: new(job.Duration(overlap))}))
		if err != nil {
			return err
		}
		return handOut(r, cmd, made, file)
	}
	return cmd
}

func newCredentialRevokeCommand() *cobra.Command {
	var group string
	cmd := &cobra.Command{
		Use:     "revoke CREDENTIAL...",
		Short:   "Revoke credentials and disconnect their executors",
		Example: "  carillon credential revoke cx4hq2m7zk3wd5t -g billing",
		Args:    cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cli.GroupFlag(cmd, &group)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckSlug("group", group); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(id string) error {
			if _, err := client.Read[client.None](api.RevokeCredential(cmd.Context(), group, id, nil)); err != nil {
				return err
			}
			cmd.Printf("credential %s revoked\n", id)
			return nil
		})
	}
	return cmd
}
