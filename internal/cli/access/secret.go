package access

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// newSecretCommand returns what is done with secrets; more are commands that ask no server.
func newSecretCommand(more []*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Manage the secrets of executor groups",
		Long: "A job names the secrets that its runs get (task.secrets). Only the executors of the group can read\n" +
			"them, and they mask them in logs. To start, create a master key for the servers, and from it a key\n" +
			"for the executors of each group. \"carillon dev\" does this for you.",
		Example: "  carillon secret keygen --file master.key                                    # once, for the servers: --master-key\n" +
			"  carillon secret key -g billing --master-key master.key --file billing.key   # for executors: --secret-key\n" +
			"  carillon secret set db-password -g billing < password.txt\n" +
			"  carillon get secrets -g billing",
	}
	cmd.AddCommand(newSecretSetCommand(), newSecretDeleteCommand())
	cmd.AddCommand(more...)
	return cmd
}

func newSecretSetCommand() *cobra.Command {
	var group, file, description string
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Create or replace a secret",
		Long: "Create or replace a secret. The value is read from standard input or a file, so it does not appear\n" +
			"in the shell history; a newline at its end is removed. Runs that start afterwards get the new\n" +
			"value.",
		Example: "  carillon secret set db-password --group billing < password.txt\n" +
			"  pass show billing/api | carillon secret set api-token -g billing --description \"of the mail provider\"\n" +
			"  carillon secret set tls-key -g billing --from-file key.pem",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cli.GroupFlag(cmd, &group)
	cmd.Flags().StringVar(&file, "from-file", "-", "read the value from this `file`; - is standard input")
	cmd.Flags().StringVar(&description, "description", "", "description of the secret; an existing one is kept without this flag")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(job.CheckSlug("group", group), job.CheckSecretName("secret", args[0])); err != nil {
			return cli.Usage(err)
		}
		value, err := cli.ReadSecret(cmd, file)
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		wish := client.SecretRequest{Value: value}
		if cmd.Flags().Changed("description") {
			wish.Description = &description
		}
		s, err := client.Read[client.Secret](api.PutSecret(cmd.Context(), group, args[0], nil, wish))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), s, func(t *draw.Table) { t.Line("secret " + group + "/" + s.Secret + " is set") })
	}
	return cmd
}

func newGetSecretsCommand() *cobra.Command {
	return newGroupList(cli.List[client.SecretList]{
		Use:     "secrets",
		Short:   "List the secrets of a group, without values",
		Example: "  carillon get secrets --group billing",
		Columns: drawSecrets,
	}, func(ctx context.Context, api *client.API, group string) (client.SecretList, error) {
		return client.Read[client.SecretList](api.ListSecrets(ctx, group))
	})
}

func drawSecrets(t *draw.Table, secrets client.SecretList) {
	if len(secrets.Items) == 0 {
		t.Line("no secrets")
		return
	}
	t.Row("SECRET", "UPDATED", "BY", "KEY", "JOBS", "DESCRIPTION")
	for _, s := range secrets.Items {
		t.Row(s.Secret, t.Instant(s.UpdatedAt), t.Cell(s.Author, 20), s.KeyID, strconv.Itoa(len(s.UsedBy)), t.Cell(s.Description, draw.NoteWidth))
	}
}

func newSecretDeleteCommand() *cobra.Command {
	var group string
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Short:   "Delete secrets; runs that need them fail",
		Example: "  carillon secret delete old-token --group billing",
		Args:    cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cli.GroupFlag(cmd, &group)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		gone := []string{}
		err = cli.Each(args, func(name string) error {
			if err := errors.Join(job.CheckSlug("group", group), job.CheckSecretName("secret", name)); err != nil {
				return cli.Usage(err)
			}
			_, err := client.Read[client.None](api.DeleteSecret(cmd.Context(), group, name, nil))
			if err == nil {
				gone = append(gone, name)
			}
			return err
		})
		return errors.Join(r.Show(cmd.OutOrStdout(), gone, func(t *draw.Table) {
			for _, name := range gone {
				t.Line("secret " + group + "/" + name + " deleted")
			}
		}), err)
	}
	return cmd
}
