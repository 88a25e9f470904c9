package main

import (
	"errors"

	"github.com/spf13/cobra"

	"carillon/internal/client"
)

func newSessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Sessions in browsers: who is signed in where, and how to end that",
		Long: "Sessions are what people have in browsers. Programs, and this one, have tokens: see \"carillon token\".\n" +
			"Everybody may see and end their own; administrators those of others, with --user.",
		Example: "  carillon get sessions\n  carillon session end ttq5ck45res24opw\n  carillon session end --user bob",
	}
	cmd.AddCommand(newSessionEndCommand())
	return cmd
}

func newGetSessionsCommand() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use: "sessions", Short: "Sessions, the one used last first", Example: "  carillon get sessions\n  carillon get sessions --user bob", Args: cobra.NoArgs,
	}
	r := newRemote(cmd)
	cmd.Flags().StringVarP(&user, "user", "u", "", "those of this `user`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		var list client.SessionList
		if user == "" {
			list, err = client.Read[client.SessionList](api.ListMySessions(cmd.Context()))
		} else {
			list, err = client.Read[client.SessionList](api.ListUserSessions(cmd.Context(), user))
		}
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), list, func(t *table) { drawSessions(t, list.Items) })
	}
	return cmd
}

func drawSessions(t *table, sessions []client.Session) {
	if len(sessions) == 0 {
		t.line("no sessions")
		return
	}
	t.row("SESSION", "SINCE", "USED", "UNTIL", "FROM", "BROWSER")
	for _, s := range sessions {
		t.row(s.ID, instant(s.CreatedAt), instant(s.SeenAt), instant(s.ExpiresAt), orDash(s.Address), cell(s.UserAgent, noteWidth))
	}
}

func newSessionEndCommand() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:     "end SESSION... | end --user USER",
		Short:   "End sessions of one's own by their ids, or all of a user's",
		Long:    "End sessions of one's own by their ids, or all of a user's. Tokens go on: \"carillon user disable\" stops those too.",
		Example: "  carillon session end ttq5ck45res24opw\n  carillon session end --user bob",
		Args: func(_ *cobra.Command, args []string) error {
			if (user == "") == (len(args) == 0) {
				return errors.New("want the ids of sessions, or --user")
			}
			return nil
		},
	}
	r := newRemote(cmd)
	cmd.Flags().StringVarP(&user, "user", "u", "", "end all of this `user`'s")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		if user != "" {
			if _, err := client.Read[client.None](api.EndUserSessions(cmd.Context(), user)); err != nil {
				return err
			}
			cmd.Printf("all sessions of %s have ended\n", user)
			return nil
		}
		return eachOf(args, func(id string) error {
			if _, err := client.Read[client.None](api.EndMySession(cmd.Context(), id)); err != nil {
				return err
			}
			cmd.Printf("session %s has ended\n", id)
			return nil
		})
	}
	return cmd
}
