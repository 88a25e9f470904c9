package operator

import "github.com/spf13/cobra"

// Commands returns what whoever operates NATS and the servers does without the API.
func Commands() []*cobra.Command {
	return []*cobra.Command{newNATSCommand(), newBackupCommand(), newRestoreCommand(), newHistoryCommand()}
}

// UserCommands returns what such a person does with users.
func UserCommands() []*cobra.Command {
	return []*cobra.Command{newUserRecoverCommand()}
}

// SecretCommands returns what such a person does with the keys of secrets.
func SecretCommands() []*cobra.Command {
	return []*cobra.Command{newSecretKeygenCommand(), newSecretKeyCommand()}
}
