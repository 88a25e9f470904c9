package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"carillon"
	"carillon/auth/callout"
	"carillon/job"
)

// natsKeysVariable has the keys themselves, not a file.
const natsKeysVariable = "CARILLON_NATS_KEYS"

func newNATSCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nats",
		Short:   "Configure NATS so that executors need a credential",
		Example: "  (umask 077; carillon nats keygen > nats.keys)\n  carillon nats config --keys nats.keys > nats.conf",
	}
	cmd.AddCommand(newNATSKeygenCommand(), newNATSConfigCommand())
	return cmd
}

func newNATSKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen",
		Short: "Make the keys by which NATS knows Carillon's servers, and print them",
		Long: "Make the keys by which NATS knows Carillon's servers, and print them. Servers get them by --nats-keys or\n" +
			natsKeysVariable + "; NATS gets their public halves, by \"carillon nats config\". Whoever has them may do everything.",
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

func newNATSConfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print a configuration of NATS that admits who has a key or a credential",
		Long: "Print a configuration for nats-server, like the repository's nats.conf, that admits Carillon's servers with their\n" +
			"keys, executors with a credential, and nobody else. It has no secrets. What differs between machines, and TLS, is\n" +
			"explained in it.",
		Example: "  carillon nats config --keys nats.keys > nats.conf",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&file, "keys", "", "the `file` of the keys (default: from "+natsKeysVariable+")")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keys, err := readNATSKeys(file)
		if err != nil {
			return err
		}
		if keys == nil {
			return usage(&job.InvalidError{Field: "keys", Reason: "are missing; make some with \"carillon nats keygen\""})
		}
		public, err := keys.Public()
		if err != nil {
			return err
		}
		conf, err := callout.Configure(carillon.NATSConf, public)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), conf)
		return err
	}
	return cmd
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
