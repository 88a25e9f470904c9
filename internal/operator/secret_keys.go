package operator

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
)

func newSecretKeygenCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Create a master key for the servers",
		Long: "Create a master key and print it. Pass it to servers with the role api, with --master-key or\n" +
			keyfile.MasterKeyVariable + ". \"carillon secret key\" derives the keys of executors from it. Anyone with\n" +
			"the master key can read all secrets.",
		Example: "  carillon secret keygen --file master.key",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return handOutKey(cmd, seal.NewMaster().Text(), file)
		},
	}
	keyFileFlag(cmd, &file)
	return cmd
}

func newSecretKeyCommand() *cobra.Command {
	var group, masterFile, file string
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the secret key of a group",
		Long: "Print the key that lets the executors of a group read its secrets, and no others. Pass it to them\n" +
			"with --secret-key or " + keyfile.SecretKeyVariable + ". It is derived from the master key, without a server,\n" +
			"so you can print it again.",
		Example: "  carillon secret key -g billing --master-key master.key --file billing.key",
		Args:    cli.NoArgs,
	}
	cli.GroupFlag(cmd, &group)
	keyFileFlag(cmd, &file)
	cmd.Flags().StringVar(&masterFile, "master-key", "", "the `file` of the master key (default: from "+keyfile.MasterKeyVariable+")")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := job.CheckSlug("group", group); err != nil {
			return cli.Usage(err)
		}
		text, err := keyfile.Read(masterFile, keyfile.MasterKeyVariable)
		if err != nil {
			return err
		}
		if text == "" {
			return cli.Usage(errors.New("name the file of the master key with --master-key, or set " + keyfile.MasterKeyVariable + "; \"carillon dev\" keeps its own in data/master.key"))
		}
		master, err := seal.ParseMaster(text)
		if err != nil {
			return &job.InvalidError{Field: "master-key", Reason: "is " + err.Error()}
		}
		return handOutKey(cmd, master.Group(group).Text(), file)
	}
	return cmd
}
