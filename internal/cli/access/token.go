package access

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Manage API tokens",
		Example: "  carillon token create deploys --role operator:web --expires-in 90d\n  carillon get tokens\n  carillon token revoke k2m4x7c3v9qd1w5z",
	}
	cmd.AddCommand(newTokenCreateCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenCreateCommand() *cobra.Command {
	var access cli.RolesFlag
	var user string
	var life time.Duration
	var only []string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an API token and show it once",
		Long: "Create an API token for a program. The name says what it is used for. --role limits its\n" +
			"permissions; without it, the token has all permissions of its user. --only limits it to some\n" +
			"requests: signal to signals to workflows, ping to reports of runs that are done elsewhere,\n" +
			"start to running jobs. Programs send it as \"Authorization: Bearer TOKEN\"; this command line\n" +
			"reads it from --token or " + cli.TokenVariable + ".",
		Example: "  carillon token create deploys --role operator:web --expires-in 90d\n" +
			"  carillon token create payments --role operator:deploy --only signal\n" +
			"  carillon token create web1 --role operator:ops --only ping --expires-in 366d\n" +
			"  export CARILLON_TOKEN=$(carillon token create ci --user ci -o json | jq -r .secret)",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.Var(&access, "role", cli.RolesHelp)
	f.StringVar(&user, "user", "", "owner of the token (default: you)")
	f.Var(cli.Duration(&life, 30*24*time.Hour), "expires-in", "how long it is valid, at most 366d")
	f.StringSliceVar(&only, "only", nil, "limit it to `requests` of these kinds: signal, ping, start")
	cli.Complete(cmd, "only", cli.Words[string](rights.Scopes)...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		made, err := client.Read[client.NewToken](api.CreateToken(cmd.Context(), client.TokenRequest{
			Name: args[0], User: user, Access: access, Only: cli.Words[rights.Scope](only), ExpiresIn: job.Duration(life),
		}))
		if err != nil {
			return err
		}
		cli.Warn(cmd, made.Warnings)
		return r.Show(cmd.OutOrStdout(), made, func(t *draw.Table) {
			t.Row("token", made.Token.ID)
			t.Row("user", made.Token.User)
			t.Row("may", t.Cell(mayText(&made.Token), 200))
			t.Row("until", t.Instant(made.Token.ExpiresAt))
			t.Row("secret", made.Secret)
			t.Line("")
			t.Line("The secret is shown only once.")
		})
	}
	return cmd
}

func newGetTokensCommand() *cobra.Command {
	var user string
	var all bool
	return cli.List[client.TokenList]{
		Use: "tokens", Short: "List API tokens, without secrets", Example: "  carillon get tokens\n  carillon get tokens --all",
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&user, "user", "", "tokens of this user (default: yours)")
			cmd.Flags().BoolVar(&all, "all", false, "tokens of all users")
			cmd.MarkFlagsMutuallyExclusive("user", "all")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.TokenList, error) {
			if all {
				user = "*"
			}
			return client.Read[client.TokenList](api.ListTokens(ctx, &client.ListTokensParams{User: client.Optional(user)}))
		},
		Columns: func(t *draw.Table, list client.TokenList) { drawTokens(t, list.Items) },
	}.Command()
}

func drawTokens(t *draw.Table, tokens []client.Token) {
	if len(tokens) == 0 {
		t.Line("no tokens")
		return
	}
	t.Row("TOKEN", "USER", "NAME", "MAY", "UNTIL")
	for _, token := range tokens {
		until := t.Instant(token.ExpiresAt)
		if token.Expired {
			until = "expired"
		} else if token.Rests {
			until = "rests until " + token.User + " signs in"
		}
		t.Row(token.ID, token.User, t.Cell(token.Name, 40), t.Cell(mayText(&token), 60), until)
	}
}

// mayText tells what a token may do.
func mayText(t *client.Token) string {
	parts := []string{cli.Roles(t.Access)}
	for _, scope := range t.Only {
		parts = append(parts, "only "+string(scope))
	}
	return strings.Join(parts, ", ")
}

func newTokenRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke TOKEN...", Short: "Revoke API tokens by id", Example: "  carillon token revoke k2m4x7c3v9qd1w5z", Args: cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(id string) error {
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
		Use: "whoami", Short: "Show the current user and permissions", Example: "  carillon whoami\n  carillon whoami -o json", Args: cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		me, err := client.Read[client.Me](api.GetMe(cmd.Context()))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), me, func(t *draw.Table) {
			t.Row("user", me.User)
			t.Row("by", string(me.How))
			t.Row("may", t.Cell(cli.Roles(me.Access), 200))
			t.Row("server", api.Address())
		})
	}
	return cmd
}
