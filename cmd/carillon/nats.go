package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"carillon/auth/callout"
	"carillon/job"
)

// natsKeysVariable has the keys themselves, not a file.
const natsKeysVariable = "CARILLON_NATS_KEYS"

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
			"with --nats-keys or " + natsKeysVariable + ". \"carillon nats config\" gives NATS the public halves.\n" +
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

// readNATSKeys reads keys from a file, or from the environment when none is named; nil
// when there is neither.
func readNATSKeys(file string) (*callout.Keys, error) {
	text, err := keyFrom(file, natsKeysVariable)
	if err != nil || text == "" && file == "" {
		return nil, err
	}
	keys, err := callout.ParseKeys(text)
	if err != nil {
		return nil, &job.InvalidError{Field: "nats-keys", Reason: err.Error()}
	}
	return &keys, nil
}

// keptNATSKeys returns the keys in a file, which are made when it is not there.
func keptNATSKeys(file string) (*callout.Keys, error) {
	if keys, err := readNATSKeys(file); !errors.Is(err, os.ErrNotExist) {
		return keys, err
	}
	keys, err := callout.NewKeys()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(keys.Text()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep keys for NATS: %w", err)
	}
	return &keys, nil
}
