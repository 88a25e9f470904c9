package access

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newSessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Manage browser sessions",
		Long: "A session belongs to a browser. Programs, and this command line, use tokens: see \"carillon token\".\n" +
			"All users can list and end their own sessions; administrators can manage those of others with\n" +
			"--user.",
		Example: "  carillon get sessions\n  carillon session end ttq5ck45res24opw\n  carillon session end --user bob",
	}
	cmd.AddCommand(newSessionEndCommand())
	return cmd
}

func newGetSessionsCommand() *cobra.Command {
	var user string
	return cli.List[client.SessionList]{
		Use: "sessions", Short: "List sessions, last used first", Example: "  carillon get sessions\n  carillon get sessions --user bob",
		Flags: func(cmd *cobra.Command) { cmd.Flags().StringVarP(&user, "user", "u", "", "sessions of this `user`") },
		Fetch: func(ctx context.Context, api *client.API) (client.SessionList, error) {
			if user == "" {
				return client.Read[client.SessionList](api.ListMySessions(ctx))
			}
			return client.Read[client.SessionList](api.ListUserSessions(ctx, user))
		},
		Columns: func(t *draw.Table, list client.SessionList) { drawSessions(t, list.Items) },
	}.Command()
}

func drawSessions(t *draw.Table, sessions []client.Session) {
	if len(sessions) == 0 {
		t.Line("no sessions")
		return
	}
	t.Row("SESSION", "SINCE", "USED", "UNTIL", "FROM", "BROWSER")
	for _, s := range sessions {
		t.Row(s.ID, t.Instant(s.CreatedAt), t.Instant(s.SeenAt), t.Instant(s.ExpiresAt), draw.OrDash(s.Address), t.Cell(s.UserAgent, draw.NoteWidth))
	}
}

func newSessionEndCommand() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "end SESSION... | end --user USER",
		Short: "End sessions by id, or all sessions of a user",
		Long: "End your own sessions by id, or all sessions of a user. Tokens stay valid; \"carillon user disable\"\n" +
			"stops those too.",
		Example: "  carillon session end ttq5ck45res24opw\n  carillon session end --user bob",
		Args: func(_ *cobra.Command, args []string) error {
			if (user == "") == (len(args) == 0) {
				return errors.New("name sessions by id, or set --user")
			}
			return nil
		},
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVarP(&user, "user", "u", "", "end all sessions of this `user`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		if user != "" {
			if _, err := client.Read[client.None](api.EndUserSessions(cmd.Context(), user)); err != nil {
				return err
			}
			cmd.Printf("all sessions of %s ended\n", user)
			return nil
		}
		return cli.Each(args, func(id string) error {
			if _, err := client.Read[client.None](api.EndMySession(cmd.Context(), id)); err != nil {
				return err
			}
			cmd.Printf("session %s ended\n", id)
			return nil
		})
	}
	return cmd
}
