package main

import "github.com/spf13/cobra"

// accessCommands returns what is done about who may what. The commands of users and of secrets include\n// those that are given, which ask no server.
func accessCommands(moreOfUsers, moreOfSecrets []*cobra.Command) []*cobra.Command {
	return []*cobra.Command{newLoginCommand(), newLogoutCommand(), newContextCommand(), newWhoamiCommand(), newSessionCommand(), newUserCommand(moreOfUsers), newTokenCommand(), newSecretCommand(moreOfSecrets), newCredentialCommand()}
}

// accessGetCommands returns what "get" shows of who may what.
func accessGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetSecretsCommand(), newGetCredentialsCommand(), newGetUsersCommand(), newGetTokensCommand(), newGetSessionsCommand(), newGetContextsCommand()}
}
