package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGetAlertRulesCommand() *cobra.Command {
	return cli.List[client.AlertList]{
		Use: "alert-rules", Short: "List alert rules and their channels", Example: "  carillon get alert-rules\n  carillon get alert-rules -o yaml",
		Fetch: func(ctx context.Context, api *client.API) (client.AlertList, error) {
			return client.Read[client.AlertList](api.ListAlerts(ctx))
		},
		Columns: func(t *draw.Table, list client.AlertList) {
			if len(list.Items) == 0 {
				t.Line("no rules")
				return
			}
			t.Row("RULE", "SEVERITY", "WHEN", "FOR", "CHANNELS")
			for i := range list.Items {
				d := &list.Items[i].Definition
				name := d.Alert
				if d.Disabled {
					name += " (disabled)"
				}
				t.Row(name, string(d.Severity), shownCondition(d), shownMatch(t, d), listed(t, d.Channels))
			}
		},
	}.Command()
}

// shownCondition tells what a rule waits for in a few words.
func shownCondition(r *client.Alert) string {
	switch w := &r.When; {
	case w.StartsWithin > 0:
		return "not started within " + w.StartsWithin.String()
	case w.Predict:
		return "not finished within " + w.EndsWithin.String() + ", or not expected to"
	case w.EndsWithin > 0:
		return "not finished within " + w.EndsWithin.String()
	case w.Slower > 0:
		return fmt.Sprintf("slower than %g times p95", w.Slower)
	case w.NoExecutor > 0:
		return "no executor for " + w.NoExecutor.String()
	case w.Discrepancy:
		return "a discrepancy in the ledger"
	case w.DeadLetters:
		return "a message about a run is refused"
	case w.TargetMissed:
		return "a job misses its target"
	case w.ShardsParked:
		return "the jobs of a shard do not fire"
	case w.ClockWrong:
		return "a clock is wrong"
	case w.OverBudget:
		return "a group has more than its share"
	case w.NeverHeard > 0:
		return "never pinged for " + w.NeverHeard.String()
	case w.Unasked > 0:
		return fmt.Sprintf("%d runs in an hour that no fire asked for", w.Unasked)
	case w.StoreFull > 0:
		return fmt.Sprintf("the disk of the log store is %d %% full", w.StoreFull)
	case w.StreamFull > 0:
		return fmt.Sprintf("a stream is %d %% full", w.StreamFull)
	default:
		ends := make([]string, 0, len(w.Ends))
		for _, s := range w.Ends {
			ends = append(ends, string(s))
		}
		text := strings.Join(ends, ", ")
		if w.InARow > 1 {
			text += fmt.Sprintf(", %d in a row", w.InARow)
		}
		if w.IgnoreAway {
			text += ", except missed while servers were away"
		}
		return text
	}
}

func shownMatch(t *draw.Table, r *client.Alert) string {
	var parts []string
	if len(r.Match.Groups) > 0 {
		parts = append(parts, "groups "+strings.Join(r.Match.Groups, ", "))
	}
	for _, name := range r.Match.Jobs {
		parts = append(parts, string(name))
	}
	if len(r.Match.Labels) > 0 {
		parts = append(parts, r.Match.Labels.String())
	}
	if parts == nil {
		return "all"
	}
	return t.Cell(strings.Join(parts, "; "), draw.NoteWidth)
}

func newGetChannelsCommand() *cobra.Command {
	return cli.List[client.ChannelList]{
		Use: "channels", Short: "List notification channels", Example: "  carillon get channels",
		Fetch: func(ctx context.Context, api *client.API) (client.ChannelList, error) {
			return client.Read[client.ChannelList](api.ListChannels(ctx))
		},
		Columns: func(t *draw.Table, list client.ChannelList) {
			if len(list.Items) == 0 {
				t.Line("no channels")
				return
			}
			t.Row("CHANNEL", "KIND", "TO", "LANGUAGE", "ZONE", "SECRETS", "MISSING", "DELIVERY")
			for i := range list.Items {
				item := &list.Items[i]
				to := item.Definition.URL
				if e := item.Definition.Email; e != nil {
					to = strings.Join(e.To, ", ")
				}
				name := item.Definition.Channel
				if item.Definition.Disabled {
					name += " (disabled)"
				}
				t.Row(name, string(item.Definition.Kind), t.Cell(to, draw.NoteWidth), string(item.Definition.Language), item.Definition.Zone, listed(t, item.Secrets), listed(t, item.Missing), shownHealth(t, &item.Health))
			}
		},
	}.Command()
}

// shownHealth says whether messages get through to a channel.
func shownHealth(t *draw.Table, h *client.ChannelHealth) string {
	switch {
	case h.Failures > 0:
		return t.Cell(fmt.Sprintf("%s: %s", draw.Count(h.Failures, "failure"), h.Reason), draw.NoteWidth)
	case h.SentAt.IsZero():
		return "-"
	}
	return "ok"
}

func newAlertDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete rule|channel NAME...", Short: "Delete alert rules or channels", Args: cobra.MinimumNArgs(2),
		Example: "  carillon alert delete rule nightly\n  carillon alert delete channel ops",
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] != "rule" && args[0] != "channel" {
			return cli.Usage(fmt.Errorf("%q must be rule or channel", args[0]))
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args[1:], func(name string) error {
			if err := job.CheckSlug(args[0], name); err != nil {
				return cli.Usage(err)
			}
			var err error
			if args[0] == "rule" {
				_, err = client.Read[client.None](api.DeleteAlert(cmd.Context(), name, nil))
			} else {
				_, err = client.Read[client.None](api.DeleteChannel(cmd.Context(), name, nil))
			}
			if err == nil {
				cmd.Printf("%s %s deleted\n", args[0], name)
			}
			return err
		})
	}
	return cmd
}

func newAlertSecretCommand() *cobra.Command {
	var file string
	var remove bool
	cmd := &cobra.Command{
		Use: "secret CHANNEL NAME", Short: "Set a secret of a channel", Args: cobra.ExactArgs(2),
		Long: "Set a secret of a notification channel. The value is read from standard input or a file, so it\n" +
			"does not appear in the shell history. Chat channels need url, the address of their webhook.\n" +
			"dingtalk, feishu and webhook also accept secret, which signs requests. email accepts password, and\n" +
			"pagerduty needs routing_key. Secrets cannot be read back.",
		Example: "  carillon alert secret ops url < webhook-url.txt\n  pass show mail | carillon alert secret mail password\n  carillon alert secret ops secret --delete",
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&file, "from-file", "-", "read the value from this `file`; - is standard input")
	cmd.Flags().BoolVar(&remove, "delete", false, "delete the secret")
	cmd.MarkFlagsMutuallyExclusive("from-file", "delete")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(job.CheckSlug("channel", args[0]), job.CheckSecretName("name", args[1])); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if remove {
			if _, err := client.Read[client.None](api.DeleteChannelSecret(cmd.Context(), args[0], args[1], nil)); err != nil {
				return err
			}
			cmd.Printf("secret %s of channel %s deleted\n", args[1], args[0])
			return nil
		}
		value, err := cli.ReadSecret(cmd, file)
		if err != nil {
			return err
		}
		item, err := client.Read[client.ChannelItem](api.PutChannelSecret(cmd.Context(), args[0], args[1], nil, client.ChannelSecret{Value: value}))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), item, func(t *draw.Table) { t.Line("secret " + args[1] + " of channel " + args[0] + " is set") })
	}
	return cmd
}
