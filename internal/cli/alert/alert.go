package alert

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newAlertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alert",
		Short: "Manage incidents, alert rules and notification channels",
		Long: "A rule defines when to open an incident. A channel delivers notifications. Save both with\n" +
			"\"carillon apply\".",
		Example: "  carillon get incidents\n" +
			"  carillon alert acknowledge 1k7sk3t00abcdefgh --note 'on it'\n" +
			"  printf 'channel: ops\\nkind: slack\\n' | carillon apply -f -\n" +
			"  carillon alert secret ops url < webhook-url.txt\n" +
			"  carillon alert test ops\n" +
			"  printf 'alert: nightly\\nmatch: {groups: [billing]}\\nchannels: [ops]\\n' | carillon apply -f -\n" +
			"  carillon alert silence --group billing --for 2h --reason 'we move the database'",
	}
	cmd.AddCommand(newAlertAcknowledgeCommand(), newAlertSnoozeCommand(), newAlertResolveCommand(),
		newAlertDeleteCommand(), newAlertSecretCommand(), newAlertTestCommand(), newAlertTryCommand(),
		newAlertSilenceCommand(), newAlertUnsilenceCommand())
	return cmd
}

func newGetIncidentsCommand() *cobra.Command {
	var state, rule, group, name string
	var limit int
	return cli.List[client.IncidentPage]{
		Use: "incidents", Aliases: []string{"incident"}, Short: "List incidents, newest first, or show one with its notifications",
		Example: "  carillon get incidents\n  carillon get incidents --state all --group billing\n  carillon get incidents 1k7sk3t00abcdefgh\n" +
			"  carillon get incidents -o json | jq '.items[].summary'",
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&state, "state", "open", "open (firing, acknowledged or snoozed), resolved or all")
			f.StringVar(&rule, "rule", "", "only for this `rule`")
			f.StringVarP(&group, "group", "g", "", "only for this executor `group`")
			f.StringVar(&name, "job", "", "only for this `job`")
			f.IntVar(&limit, "limit", 50, "maximum number of incidents to show, up to 1000")
			cli.Complete(cmd, "state", "open", "firing", "acknowledged", "snoozed", "resolved", "all")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.IncidentPage, error) {
			if state == "all" {
				state = ""
			}
			return client.Read[client.IncidentPage](api.ListIncidents(ctx, &client.ListIncidentsParams{
				State: client.Optional(state), Alert: client.Optional(rule), Group: client.Optional(group), Job: client.Optional(name), Limit: &limit,
			}))
		},
		Columns: func(t *draw.Table, page client.IncidentPage) { drawIncidents(t, page.Items, time.Now()) },
		One: cli.Named("INCIDENT", func(ctx context.Context, api *client.API, id string) (client.Incident, error) {
			return client.Read[client.Incident](api.GetIncident(ctx, id))
		}, func(t *draw.Table, inc client.Incident) { drawIncident(t, &inc) }),
	}.Command()
}

func drawIncidents(t *draw.Table, list []client.Incident, now time.Time) {
	if len(list) == 0 {
		t.Line("no incidents")
		return
	}
	row := []string{"INCIDENT", "STATE", "SEVERITY", "RULE", "SINCE", "FOR", "TIMES"}
	if t.Wide {
		row = append(row, "GROUP", "ABOUT", "RESOLVED", "ACKNOWLEDGED BY")
	}
	t.Row(append(row, "SUMMARY")...)
	for _, inc := range list {
		state, until := string(inc.State), now
		if inc.AcknowledgedBy != "" && inc.ResolvedAt.IsZero() {
			state = "acknowledged"
		}
		if inc.IsSnoozed(now) {
			state = "snoozed"
		}
		if !inc.ResolvedAt.IsZero() {
			until = inc.ResolvedAt
		}
		row := []string{inc.ID, state, string(inc.Severity), draw.OrDash(inc.Rule), t.Instant(inc.OpenedAt), draw.Took(inc.OpenedAt, until), strconv.Itoa(inc.Count)}
		if t.Wide {
			row = append(row, draw.OrDash(inc.Group), t.Cell(inc.Subject, 60), t.Instant(inc.ResolvedAt), t.Cell(inc.AcknowledgedBy, 60))
		}
		t.Row(append(row, t.Cell(inc.Summary, draw.NoteWidth))...)
	}
}

func drawIncident(t *draw.Table, inc *client.Incident) {
	t.Row("incident", inc.ID)
	t.Row("summary", t.Cell(inc.Summary, 200))
	t.Row("rule", draw.OrDash(inc.Rule))
	t.Row("about", t.Cell(inc.Subject, 200))
	t.Row("severity", string(inc.Severity))
	t.Row("state", string(inc.State))
	t.Row("since", t.Instant(inc.OpenedAt))
	if inc.AcknowledgedBy != "" {
		t.Row("acknowledged", t.Instant(inc.AcknowledgedAt)+" by "+t.Cell(inc.AcknowledgedBy, 60))
	}
	if !inc.SnoozedUntil.IsZero() {
		t.Row("snoozed", "until "+t.Instant(inc.SnoozedUntil)+" by "+t.Cell(inc.SnoozedBy, 60))
	}
	if !inc.ResolvedAt.IsZero() {
		t.Row("resolved", t.Instant(inc.ResolvedAt)+", "+t.Cell(inc.Resolution, 100))
	}
	if inc.Note != "" {
		t.Row("note", t.Cell(inc.Note, 200))
	}
	t.Row("times", strconv.Itoa(inc.Count))
	if len(inc.Jobs) > 0 {
		t.Line("")
		t.Row("JOB", "STATUS", "AT", "TIMES", "RUN", "MESSAGE")
		for _, a := range inc.Jobs {
			status := string(a.Status)
			if a.Over {
				status = "recovered, " + status
			}
			t.Row(string(a.Job), draw.OrDash(status), t.Instant(a.At), strconv.Itoa(a.Count), string(a.RunID), t.Cell(a.Message, draw.NoteWidth))
		}
		if inc.More > 0 {
			t.Line(fmt.Sprintf("and %d more", inc.More))
		}
	}
	if len(inc.Deliveries) > 0 {
		t.Line("")
		t.Row("CHANNEL", "MESSAGE", "STATE", "TRIES", "AT", "REASON")
		for _, d := range inc.Deliveries {
			t.Row(d.Channel, string(d.Kind), string(d.State), strconv.Itoa(d.Attempts), t.Instant(deliveredAt(&d)), t.Cell(d.Reason, draw.NoteWidth))
		}
	}
}

// deliveredAt returns when a delivery was sent, or is to be.
func deliveredAt(d *client.Delivery) time.Time {
	if !d.SentAt.IsZero() {
		return d.SentAt
	}
	return d.NextAt
}

func newAlertAcknowledgeCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "acknowledge INCIDENT...", Aliases: []string{"ack"}, Short: "Acknowledge incidents and stop their reminders", Args: cobra.MinimumNArgs(1),
		Example: "  carillon alert acknowledge 1k7sk3t00abcdefgh --note 'disk is being cleared'",
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&note, "note", "", "a note for others")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return eachIncident(r, cmd, args, "acknowledged", func(ctx context.Context, api *client.API, id string) (client.Incident, error) {
			return client.Read[client.Incident](api.AcknowledgeIncident(ctx, id, nil, client.IncidentNote{Note: note}))
		})
	}
	return cmd
}

func newAlertSnoozeCommand() *cobra.Command {
	var lasts, note string
	var end bool
	cmd := &cobra.Command{
		Use: "snooze INCIDENT...", Short: "Mute incidents for a while", Args: cobra.MinimumNArgs(1),
		Example: "  carillon alert snooze 1k7sk3t00abcdefgh --for 8h --note 'it can wait until tomorrow'\n" +
			"  carillon alert snooze 1k7sk3t00abcdefgh --end",
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.StringVar(&lasts, "for", "1h", "how long to snooze, such as 8h or 1d; at most 30d")
	f.StringVar(&note, "note", "", "a note for others")
	f.BoolVar(&end, "end", false, "end the snooze now")
	cmd.MarkFlagsMutuallyExclusive("for", "end")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := job.ParseDuration(lasts)
		if err != nil {
			return cli.Usage(err)
		}
		done := "snoozed"
		if end {
			d, done = 0, "not snoozed"
		}
		return eachIncident(r, cmd, args, done, func(ctx context.Context, api *client.API, id string) (client.Incident, error) {
			return client.Read[client.Incident](api.SnoozeIncident(ctx, id, nil, client.IncidentSnooze{Lasts: job.Duration(d), Note: note}))
		})
	}
	return cmd
}

func newAlertResolveCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "resolve INCIDENT...", Short: "Resolve incidents; the next failure opens a new one", Args: cobra.MinimumNArgs(1),
		Example: "  carillon alert resolve 1k7sk3t00abcdefgh --note 'the job is gone'",
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&note, "note", "", "why")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return eachIncident(r, cmd, args, "resolved", func(ctx context.Context, api *client.API, id string) (client.Incident, error) {
			return client.Read[client.Incident](api.ResolveIncident(ctx, id, nil, client.IncidentNote{Note: note}))
		})
	}
	return cmd
}

// eachIncident does something with each incident, and shows those with which that worked.
func eachIncident(r *cli.Remote, cmd *cobra.Command, ids []string, done string, do func(context.Context, *client.API, string) (client.Incident, error)) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	list := []client.Incident{}
	err = cli.Each(ids, func(id string) error {
		inc, err := do(cmd.Context(), api, id)
		if err == nil {
			list = append(list, inc)
		}
		return err
	})
	return errors.Join(r.Show(cmd.OutOrStdout(), list, func(t *draw.Table) {
		for _, inc := range list {
			t.Line("incident " + inc.ID + " is " + done + ": " + t.Cell(inc.Summary, draw.NoteWidth))
		}
	}), err)
}

func newGetDeliveriesCommand() *cobra.Command {
	var channel, state, since, from, to string
	var limit int
	return cli.List[client.DeliveryList]{
		Use: "deliveries", Short: "List notifications and their delivery state",
		Example: "  carillon get deliveries\n  carillon get deliveries --channel ops --state failed\n  carillon get deliveries --since 24h",
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&channel, "channel", "", "only for this `channel`")
			f.StringVar(&state, "state", "", "only in this `state`: waiting, sent, failed or dropped")
			f.StringVar(&since, "since", "", "only those created in the last `duration`, such as 90m or 7d")
			f.StringVar(&from, "from", "", "only those created at or after this `time` (RFC 3339)")
			f.StringVar(&to, "to", "", "only those created before this `time` (RFC 3339)")
			f.IntVar(&limit, "limit", 50, "maximum number to show, up to 1000")
			cmd.MarkFlagsMutuallyExclusive("since", "from")
			cli.Complete(cmd, "state", "waiting", "sent", "failed", "dropped")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.DeliveryList, error) {
			begin, end, err := cli.Bounds(since, from, to, time.Now())
			if err != nil {
				return client.DeliveryList{}, cli.Usage(err)
			}
			return client.Read[client.DeliveryList](api.ListDeliveries(ctx, &client.ListDeliveriesParams{
				Channel: client.Optional(channel), State: client.Optional(state), From: begin, To: end, Limit: &limit,
			}))
		},
		Columns: drawDeliveries,
	}.Command()
}

func drawDeliveries(t *draw.Table, list client.DeliveryList) {
	if len(list.Items) == 0 {
		t.Line("no deliveries")
		return
	}
	t.Row("INCIDENT", "CHANNEL", "MESSAGE", "STATE", "TRIES", "AT", "SUMMARY", "REASON")
	for _, item := range list.Items {
		d := &item.Delivery
		t.Row(item.Incident, d.Channel, string(d.Kind), string(d.State), strconv.Itoa(d.Attempts), t.Instant(deliveredAt(d)), t.Cell(item.Summary, 40), t.Cell(d.Reason, draw.NoteWidth))
	}
}

func newAlertTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test CHANNEL...", Short: "Send a test message to channels", Args: cobra.MinimumNArgs(1),
		Example: "  carillon alert test ops",
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(channel string) error {
			inc, err := client.Read[client.Incident](api.TestChannel(cmd.Context(), channel))
			if err != nil {
				return err
			}
			if len(inc.Deliveries) != 1 || inc.Deliveries[0].State != "sent" {
				reason := "no server has sent the message yet; check that a server with the role alert is running"
				if len(inc.Deliveries) == 1 && inc.Deliveries[0].Reason != "" {
					reason = inc.Deliveries[0].Reason
				}
				return cli.ExitWith(cli.ExitError, fmt.Errorf("channel %s: %s", channel, reason))
			}
			return r.Show(cmd.OutOrStdout(), inc, func(t *draw.Table) {
				said := "test message accepted by channel " + channel
				if a := inc.Deliveries[0].Answer; a != nil {
					said += ": " + strings.TrimSpace(a.Status+" in "+a.Took.String())
				}
				t.Line(said)
			})
		})
	}
	return cmd
}

func newAlertSilenceCommand() *cobra.Command {
	var rule, group, name, lasts, reason string
	cmd := &cobra.Command{
		Use: "silence", Short: "Silence notifications for a while", Args: cli.NoArgs,
		Long: "Silence notifications for a rule, an executor group, a job, or everything. Incidents that are\n" +
			"still open when the silence ends are sent then.",
		Example: "  carillon alert silence --group billing --for 2h --reason 'we move the database'\n  carillon alert silence --for 15m",
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.StringVar(&rule, "rule", "", "only for this `rule`")
	f.StringVarP(&group, "group", "g", "", "only for this executor `group`")
	f.StringVar(&name, "job", "", "only for this `job`")
	f.StringVar(&lasts, "for", "", "how long to silence, such as 2h or 1d; at most 90d")
	f.StringVar(&reason, "reason", "", "why")
	if err := cmd.MarkFlagRequired("for"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := job.ParseDuration(lasts)
		if err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		made, err := client.Read[client.NewSilence](api.AddSilence(cmd.Context(), nil, client.SilenceRequest{
			Alert: rule, ExecutorGroup: group, Job: name, Lasts: job.Duration(d), Reason: reason,
		}))
		if err != nil {
			return err
		}
		cli.Warn(cmd, made.Warnings)
		s := made.Silence
		return r.Show(cmd.OutOrStdout(), s, func(t *draw.Table) { t.Line("silence " + s.ID + " lasts until " + t.Instant(s.Until)) })
	}
	return cmd
}

func newGetSilencesCommand() *cobra.Command {
	return cli.List[client.SilenceList]{
		Use: "silences", Short: "List silences", Example: "  carillon get silences",
		Fetch: func(ctx context.Context, api *client.API) (client.SilenceList, error) {
			return client.Read[client.SilenceList](api.ListSilences(ctx))
		},
		Columns: func(t *draw.Table, list client.SilenceList) {
			if len(list.Items) == 0 {
				t.Line("no silences")
				return
			}
			t.Row("SILENCE", "UNTIL", "BY", "RULE", "GROUP", "JOB", "REASON")
			for _, s := range list.Items {
				t.Row(s.ID, t.Instant(s.Until), t.Cell(s.By, 30), draw.OrDash(s.Rule), draw.OrDash(s.Group), draw.OrDash(string(s.Job)), t.Cell(s.Reason, draw.NoteWidth))
			}
		},
	}.Command()
}

func newAlertUnsilenceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "unsilence SILENCE...", Short: "End silences", Args: cobra.MinimumNArgs(1), Example: "  carillon alert unsilence 1k7sk3t00abcdefgh"}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(id string) error {
			if _, err := client.Read[client.None](api.EndSilence(cmd.Context(), id, nil)); err != nil {
				return err
			}
			cmd.Println("silence " + id + " is over")
			return nil
		})
	}
	return cmd
}

// shownList writes names in one cell.
func listed(t *draw.Table, names []string) string {
	return t.Cell(strings.Join(names, ", "), draw.NoteWidth)
}
