package access

import "github.com/spf13/cobra"

// Commands returns what is done about who may what. The commands of users and of secrets include
// those that are given, which ask no server.
func Commands(moreOfUsers, moreOfSecrets []*cobra.Command) []*cobra.Command {
	return []*cobra.Command{newLoginCommand(), newLogoutCommand(), newContextCommand(), newWhoamiCommand(), newSessionCommand(), newUserCommand(moreOfUsers), newTokenCommand(), newSecretCommand(moreOfSecrets), newCredentialCommand()}
}

// GetCommands returns what "get" shows of who may what.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetSecretsCommand(), newGetCredentialsCommand(), newGetUsersCommand(), newGetTokensCommand(), newGetSessionsCommand(), newGetContextsCommand()}
}
