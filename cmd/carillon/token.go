package main

import (
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "API tokens, with which programs sign in",
		Example: "  carillon token create deploys --role operator:web --expires-in 90d\n  carillon get tokens\n  carillon token revoke k2m4x7c3v9qd1w5z",
	}
	cmd.AddCommand(newTokenCreateCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenCreateCommand() *cobra.Command {
	var access accessFlag
	var user string
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token, and print it, this once",
		Long: "Make a token for a program, under a name that says what for. It may do what --role says, as far as its user may; by\n" +
			"default all of that. Programs send it as \"Authorization: Bearer TOKEN\"; this one takes it from --token or\n" + tokenVariable + ".",
		Example: "  carillon token create deploys --role operator:web --expires-in 90d\n" +
			"  export CARILLON_TOKEN=$(carillon token create ci --user ci -o json | jq -r .secret)",
		Args: cobra.ExactArgs(1),
	}
	r := newRemote(cmd)
	f := cmd.Flags()
	f.Var(&access, "role", accessHelp)
	f.StringVar(&user, "user", "", "whose token it is (default: one's own)")
	f.Var(durationFlag{&life, 30 * 24 * time.Hour}, "expires-in", "how long it works, at most 366d")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		made, err := client.Read[client.NewToken](api.CreateToken(cmd.Context(), client.TokenRequest{
			Name: args[0], User: user, Access: access, ExpiresIn: job.Duration(life),
		}))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), made, func(t *table) {
			t.row("token", made.Token.ID)
			t.row("user", made.Token.User)
			t.row("may", cell(shownAccess(made.Token.Access), 200))
			t.row("until", instant(made.Token.ExpiresAt))
			t.row("secret", made.Secret)
			t.line("")
			t.line("The secret is shown this once.")
		})
	}
	return cmd
}

func newGetTokensCommand() *cobra.Command {
	var user string
	var all bool
	cmd := &cobra.Command{
		Use: "tokens", Short: "Show tokens, without their secrets", Example: "  carillon get tokens\n  carillon get tokens --all", Args: cobra.NoArgs,
	}
	r := newRemote(cmd)
	cmd.Flags().StringVar(&user, "user", "", "whose (default: one's own)")
	cmd.Flags().BoolVar(&all, "all", false, "everybody's")
	cmd.MarkFlagsMutuallyExclusive("user", "all")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		if all {
			user = "*"
		}
		list, err := client.Read[client.TokenList](api.ListTokens(cmd.Context(), &client.ListTokensParams{User: client.Optional(user)}))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), list, func(t *table) { drawTokens(t, list.Items) })
	}
	return cmd
}

func drawTokens(t *table, tokens []client.Token) {
	if len(tokens) == 0 {
		t.line("no tokens")
		return
	}
	t.row("TOKEN", "USER", "NAME", "MAY", "UNTIL")
	for _, token := range tokens {
		until := instant(token.ExpiresAt)
		if token.Expired {
			until = "expired"
		} else if token.Rests {
			until = "rests until " + token.User + " signs in"
		}
		t.row(token.ID, token.User, cell(token.Name, 40), cell(shownAccess(token.Access), 60), until)
	}
}

func newTokenRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke TOKEN...", Short: "Revoke tokens by their ids", Example: "  carillon token revoke k2m4x7c3v9qd1w5z", Args: cobra.MinimumNArgs(1),
	}
	r := newRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		return eachOf(args, func(id string) error {
			if _, err := client.Read[client.None](api.RevokeToken(cmd.Context(), id)); err != nil {
				return err
			}
			cmd.Printf("token %s revoked\n", id)
			return nil
		})
	}
	return cmd
}

func newWhoamiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show who the server takes one for, and what one may", Example: "  carillon whoami\n  carillon whoami -o json", Args: cobra.NoArgs,
	}
	r := newRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		me, err := client.Read[client.Me](api.GetMe(cmd.Context()))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), me, func(t *table) {
			t.row("user", me.User)
			t.row("by", string(me.How))
			t.row("may", cell(shownAccess(me.Access), 200))
			t.row("server", api.Address())
		})
	}
	return cmd
}
