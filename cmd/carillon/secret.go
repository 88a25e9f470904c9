package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carillon/bus"
	"carillon/internal/client"
	"carillon/internal/seal"
	"carillon/job"
)

// Where keys come from when no file is named.
const (
	masterKeyVariable = "CARILLON_MASTER_KEY" // of servers
	secretKeyVariable = "CARILLON_SECRET_KEY" // of executors
)

func newSecretCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Manage the secrets of executor groups",
		Long: "A job names the secrets that its runs get (task.secrets). Only the executors of the group can read\n" +
			"them, and they mask them in logs. To start, create a master key for the servers, and from it a key\n" +
			"for the executors of each group. \"carillon dev\" does this for you.",
		Example: "  carillon secret keygen > master.key                                    # once, for the servers: --master-key\n" +
			"  carillon secret key -g billing --master-key master.key > billing.key   # for executors: --secret-key\n" +
			"  carillon secret set db-password -g billing < password.txt\n" +
			"  carillon get secrets -g billing",
	}
	cmd.AddCommand(newSecretSetCommand(), newSecretDeleteCommand(), newSecretKeygenCommand(), newSecretKeyCommand())
	return cmd
}

// groupFlag adds the flag that says which group.
func groupFlag(cmd *cobra.Command, group *string) {
	cmd.Flags().StringVarP(group, "group", "g", "", "the executor `group`")
	if err := cmd.MarkFlagRequired("group"); err != nil {
		panic("BUG: " + err.Error())
	}
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
	r := newRemote(cmd)
	groupFlag(cmd, &group)
	cmd.Flags().StringVar(&file, "from-file", "-", "read the value from this `file`; - is standard input")
	cmd.Flags().StringVar(&description, "description", "", "description of the secret")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(job.CheckSlug("group", group), job.CheckSecretName("secret", args[0])); err != nil {
			return usage(err)
		}
		value, err := readSecret(cmd, file)
		if err != nil {
			return err
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		s, err := client.Read[client.Secret](api.PutSecret(cmd.Context(), group, args[0], nil, client.SecretRequest{Value: value, Description: description}))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), s, func(t *table) { t.line("secret " + group + "/" + s.Secret + " is set") })
	}
	return cmd
}

// readSecret reads a value without the line end that files and pipes have.
func readSecret(cmd *cobra.Command, file string) (string, error) {
	from := cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the file that the person names
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		from = f
	} else if isTerminal(from) {
		cmd.PrintErrln("Type the value (it is visible), then Enter and Ctrl-D.")
	}
	data, err := io.ReadAll(io.LimitReader(from, bus.MaxSecret+3)) // enough to see that it is too long
	if err != nil {
		return "", fmt.Errorf("read the value: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

func newGetSecretsCommand() *cobra.Command {
	var group string
	cmd := newListCommand(&cobra.Command{
		Use:     "secrets",
		Short:   "List the secrets of a group, without values",
		Example: "  carillon get secrets --group billing",
	}, func(ctx context.Context, api *client.API) (client.SecretList, error) {
		if err := job.CheckSlug("group", group); err != nil {
			return client.SecretList{}, usage(err)
		}
		return client.Read[client.SecretList](api.ListSecrets(ctx, group))
	}, drawSecrets)
	groupFlag(cmd, &group)
	return cmd
}

func drawSecrets(t *table, secrets client.SecretList) {
	if len(secrets.Items) == 0 {
		t.line("no secrets")
		return
	}
	t.row("SECRET", "UPDATED", "BY", "KEY", "JOBS", "DESCRIPTION")
	for _, s := range secrets.Items {
		t.row(s.Secret, instant(s.UpdatedAt), t.cell(s.Author, 20), s.KeyID, strconv.Itoa(len(s.UsedBy)), t.cell(s.Description, noteWidth))
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
	r := newRemote(cmd)
	groupFlag(cmd, &group)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		gone := []string{}
		err = eachOf(args, func(name string) error {
			if err := errors.Join(job.CheckSlug("group", group), job.CheckSecretName("secret", name)); err != nil {
				return usage(err)
			}
			_, err := client.Read[client.None](api.DeleteSecret(cmd.Context(), group, name, nil))
			if err == nil {
				gone = append(gone, name)
			}
			return err
		})
		return errors.Join(r.output.show(cmd.OutOrStdout(), gone, func(t *table) {
			for _, name := range gone {
				t.line("secret " + group + "/" + name + " deleted")
			}
		}), err)
	}
	return cmd
}

func newSecretKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen",
		Short: "Create a master key for the servers",
		Long: "Create a master key and print it. Pass it to servers with the role api, with --master-key or\n" +
			masterKeyVariable + ". \"carillon secret key\" derives the keys of executors from it. Anyone with\n" +
			"the master key can read all secrets.",
		Example: "  (umask 077; carillon secret keygen > master.key)",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), seal.NewMaster().Text())
			return err
		},
	}
}

func newSecretKeyCommand() *cobra.Command {
	var group, file string
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the secret key of a group",
		Long: "Print the key that lets the executors of a group read its secrets, and no others. Pass it to them\n" +
			"with --secret-key or " + secretKeyVariable + ". It is derived from the master key, without a server,\n" +
			"so you can print it again.",
		Example: "  (umask 077; carillon secret key -g billing --master-key master.key > billing.key)",
		Args:    cobra.NoArgs,
	}
	groupFlag(cmd, &group)
	cmd.Flags().StringVar(&file, "master-key", "", "the `file` of the master key (default: from "+masterKeyVariable+")")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := job.CheckSlug("group", group); err != nil {
			return usage(err)
		}
		text, err := keyFrom(file, masterKeyVariable)
		if err != nil {
			return err
		}
		master, err := seal.ParseMaster(text)
		if err != nil {
			return &job.InvalidError{Field: "master-key", Reason: "is " + err.Error()}
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), master.Group(group).Text())
		return err
	}
	return cmd
}

// keyFrom reads a key from a file, or from a variable when none is named; "" when there
// is neither. The variable is taken out of the environment, which child processes get.
func keyFrom(file, variable string) (string, error) {
	if file == "" {
		text := os.Getenv(variable)
		return text, os.Unsetenv(variable)
	}
	if inherited := descriptorOf(file); inherited != nil {
		return readInherited(inherited)
	}
	data, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return string(data), nil
}

// descriptorOf returns the descriptor that the name of a key's file stands for: "-" is
// standard input, "fd:3" is 3. It returns nil for any other name.
func descriptorOf(name string) *os.File {
	if name == "-" {
		return os.Stdin
	}
	number, ok := strings.CutPrefix(name, "fd:")
	fd, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

// maxKeyText bounds what is read as a key.
const maxKeyText = 4096

// readInherited reads a key and closes its descriptor, so that no child gets it.
func readInherited(f *os.File) (_ string, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyText))
	if err != nil {
		return "", fmt.Errorf("read key from %s: %w", f.Name(), err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", &job.InvalidError{Field: "key", Reason: fmt.Sprintf("from %s is empty", f.Name())}
	}
	return string(data), nil
}

// keptMasterKey returns the master key in a file, which is made when it is not there.
func keptMasterKey(file string) (*seal.Master, error) {
	data, err := os.ReadFile(file) //nolint:gosec // in the data directory
	if errors.Is(err, os.ErrNotExist) {
		master := seal.NewMaster()
		if err := os.WriteFile(file, []byte(master.Text()+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("keep master key: %w", err)
		}
		return master, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	master, err := seal.ParseMaster(string(data))
	if err != nil {
		return nil, fmt.Errorf("read master key from %s: %w", file, err)
	}
	return master, nil
}
