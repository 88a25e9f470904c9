package main

import "github.com/spf13/cobra"

// operatorCommands returns what whoever operates NATS and the servers does without the API.
func operatorCommands() []*cobra.Command {
	return []*cobra.Command{newNATSCommand(), newBackupCommand(), newRestoreCommand()}
}

// operatorUserCommands returns what such a person does with users.
func operatorUserCommands() []*cobra.Command {
	return []*cobra.Command{newUserRecoverCommand()}
}

// operatorSecretCommands returns what such a person does with the keys of secrets.
func operatorSecretCommands() []*cobra.Command {
	return []*cobra.Command{newSecretKeygenCommand(), newSecretKeyCommand()}
}
