// Package pings has the commands for the tokens with which programs elsewhere ping.
package pings

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// Commands returns the commands below that of the wrapper.
func Commands() []*cobra.Command { return []*cobra.Command{newTokenCommand()} }

// tokenOptions are the flags of the command.
type tokenOptions struct {
	rotate, list bool
	overlap      time.Duration
	revoke       string
}

// overlap is how long other tokens work on by default; the contract states it.
const overlap = 7 * 24 * time.Hour

func newTokenCommand() *cobra.Command {
	var o tokenOptions
	cmd := &cobra.Command{
		Use:   "token JOB",
		Short: "Create a ping token of a job and show it once",
		Long: "Create a token with which a program elsewhere reports runs of one job, and can do nothing else. The\n" +
			"task of the job is \"watch\". The token belongs to the job and does not expire. A job has five at most.\n" +
			"With --rotate, its other tokens end after --overlap. --list shows when and where each was last used.",
		Example: "  carillon watch token ops/backup\n" +
			"  carillon watch token ops/backup --rotate --overlap 1d\n" +
			"  carillon watch token ops/backup --list\n" +
			"  carillon watch token ops/backup --revoke 8fQ2mX0cLr7B",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.rotate, "rotate", false, "end the other tokens of the job")
	o.overlap = overlap
	f.Var(cli.OptionalDuration(&o.overlap), "overlap", "with --rotate: how long the other tokens stay valid, at most 90d; 0s ends them now")
	f.BoolVar(&o.list, "list", false, "list the tokens, without secrets")
	f.StringVar(&o.revoke, "revoke", "", "revoke the token with this `id`")
	cmd.MarkFlagsMutuallyExclusive("rotate", "list", "revoke")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		if f.Changed("overlap") && !o.rotate {
			return cli.Usage(job.Invalid("overlap", "is only for --rotate, when other tokens end"))
		}
		api, err := r.API()
		switch {
		case err != nil:
			return err
		case o.list:
			return list(cmd, r, api, name)
		case o.revoke != "":
			if _, err := client.Read[client.None](api.RevokePingToken(cmd.Context(), name.Group(), name.Short(), o.revoke, nil)); err != nil {
				return err
			}
			cmd.Printf("ping token %s of job %s revoked\n", o.revoke, name)
			return nil
		}
		return create(cmd, r, api, name, o)
	}
	return cmd
}

func create(cmd *cobra.Command, r *cli.Remote, api *client.API, name job.Name, o tokenOptions) error {
	request := client.PingTokenRequest{Rotate: o.rotate}
	if o.rotate {
		request.Overlap = new(job.Duration(o.overlap))
	}
	made, err := client.Read[client.NewPingToken](api.CreatePingToken(cmd.Context(), name.Group(), name.Short(), nil, request))
	if err != nil {
		return err
	}
	if made.URLFromRequest {
		cmd.PrintErrln("warning: the server has no public URL (--public-url): other machines may not reach the address below")
	}
	return r.Show(cmd.OutOrStdout(), made, func(t *draw.Table) {
		t.Row("id", made.ID)
		t.Row("job", string(name))
		t.Row("token", made.Token)
		t.Row("url", made.URL)
		t.Line("")
		t.Line("In a crontab: COMMAND && curl -fsS -m 10 --retry 3 " + made.URL)
		t.Line("The token is shown only once.")
	})
}

func list(cmd *cobra.Command, r *cli.Remote, api *client.API, name job.Name) error {
	tokens, err := client.Read[client.PingTokenList](api.ListPingTokens(cmd.Context(), name.Group(), name.Short()))
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), tokens, func(t *draw.Table) {
		if len(tokens.Items) == 0 {
			t.Line("no ping tokens")
		} else {
			t.Row("TOKEN", "CREATED", "BY", "UNTIL", "LAST USED", "LAST HOST")
		}
		for _, token := range tokens.Items {
			t.Row(token.ID, t.Instant(token.CreatedAt), token.By, instant(t, token.EndsAt, "it is revoked"), instant(t, token.LastUsedAt, "never"), t.Cell(token.LastHost, 40))
		}
		if c := tokens.Refused; c.TooMany+c.Method > 0 {
			t.Line("")
			t.Line(fmt.Sprintf("This server has refused %d pings above the rate and %d by a method that the job does not take.", c.TooMany, c.Method))
		}
	})
}

// instant returns an instant for people, or otherwise if there is none.
func instant(t *draw.Table, at *time.Time, otherwise string) string {
	if at == nil {
		return otherwise
	}
	return t.Instant(*at)
}
