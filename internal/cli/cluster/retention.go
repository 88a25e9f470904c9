package cluster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func newRetentionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Manage how long history is kept",
		Long: "The rule of a job comes before the rule of its group, and that before the default. Log lines are\n" +
			"deleted by whole days (UTC), which frees the disk at once. A change applies within a minute. Runs\n" +
			"follow the new rules. Existing log lines are deleted under the old rules at the latest, and\n" +
			"earlier if all jobs of their day and class allow it.",
		Example: "  carillon get retention\n  carillon retention preview --logs 3d\n  carillon retention set --logs 14d",
	}
	cmd.AddCommand(newRetentionSetCommand(), newRetentionPreviewCommand())
	return cmd
}

func newGetRetentionCommand() *cobra.Command {
	return cli.List[client.RetentionItem]{
		Use:     "retention",
		Short:   "Show the retention rules",
		Example: "  carillon get retention\n  carillon get retention -o json",
		Fetch: func(ctx context.Context, api *client.API) (client.RetentionItem, error) {
			return client.Read[client.RetentionItem](api.GetRetention(ctx))
		},
		Columns: func(t *draw.Table, item client.RetentionItem) { drawRetention(t, &item) },
	}.Command()
}

func newRetentionSetCommand() *cobra.Command {
	var rule ruleFlags
	var note string
	var yes bool
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Change a retention rule, with a preview",
		Example: "  carillon retention set --logs 14d                          # the default\n" +
			"  carillon retention set --group billing --runs 365d --logs 90d\n" +
			"  carillon retention set --job ops/chatty --logs 1d --yes\n" +
			"  carillon retention set --audit 730d                        # who changed what\n" +
			"  carillon retention set --group billing --remove",
		Args: cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	rule.add(cmd)
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the audit log")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		was, etag, err := readRetention(cmd, api)
		if err != nil {
			return err
		}
		next, err := rule.apply(was.Retention)
		if err != nil {
			return cli.Usage(err)
		}
		before, after, err := previewBoth(cmd, api, was.Retention, next)
		if err != nil {
			return err
		}
		if !yes {
			var t draw.Table
			drawEffect(&t, &before, &after)
			if err := t.Write(cmd.ErrOrStderr()); err != nil {
				return err
			}
			if err := cli.Confirm(cmd, "Apply this rule?"); err != nil {
				return err
			}
		}
		params := client.PutRetentionParams{IfMatch: &etag}
		if etag == "" {
			params = client.PutRetentionParams{IfNoneMatch: new("*")}
		}
		item, err := client.Read[client.RetentionItem](api.PutRetention(cmd.Context(), &params, client.RetentionRequest{Retention: next, Note: note}))
		if err != nil {
			return err
		}
		cli.Warn(cmd, item.Warnings)
		return r.Show(cmd.OutOrStdout(), item, func(t *draw.Table) { drawRetention(t, &item) })
	}
	return cmd
}

func newRetentionPreviewCommand() *cobra.Command {
	var rule ruleFlags
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "Preview the effect of a rule on the disk",
		Long: "Show the present disk usage, what the next hourly cleanup deletes, and the long-term usage if each\n" +
			"day adds as much as those of the last week. Without flags, preview the present rules.",
		Example: "  carillon retention preview\n" +
			"  carillon retention preview --group billing --logs 3d",
		Args: cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	rule.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		was, _, err := readRetention(cmd, api)
		if err != nil {
			return err
		}
		next := was.Retention
		if !rule.isZero() {
			if next, err = rule.apply(was.Retention); err != nil {
				return cli.Usage(err)
			}
		}
		before, after, err := previewBoth(cmd, api, was.Retention, next)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), after, func(t *draw.Table) { drawEffect(t, &before, &after) })
	}
	return cmd
}

// ruleFlags name one rule, and what it is to say.
type ruleFlags struct {
	group, job string
	runs, logs time.Duration
	remove     bool
	// Of what is not of one job.
	audit, alerts, discrepancies time.Duration
}

func (f *ruleFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.group, "group", "", "the rule for an executor `group`")
	cmd.Flags().StringVar(&f.job, "job", "", "the rule for a `job`")
	cmd.Flags().Var(cli.Duration(&f.runs, 0), "runs", "how long to keep runs, such as 90d")
	cmd.Flags().Var(cli.Duration(&f.logs, 0), "logs", "how long to keep log lines, such as 7d")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "remove this rule, so that the group rule or the default applies")
	cmd.Flags().Var(cli.Duration(&f.audit, 0), "audit", "how long to keep the audit log, such as 1825d")
	cmd.Flags().Var(cli.Duration(&f.alerts, 0), "alerts", "how long to keep incidents and their notifications, such as 400d")
	cmd.Flags().Var(cli.Duration(&f.discrepancies, 0), "discrepancies", "how long to keep discrepancies of the ledger, such as 400d")
	cmd.MarkFlagsMutuallyExclusive("group", "job")
}

func (f *ruleFlags) isZero() bool { return *f == ruleFlags{} }

// apply returns r with the rule changed.
func (f *ruleFlags) apply(r job.Retention) (job.Retention, error) {
	r.Groups, r.Jobs = maps.Clone(r.Groups), maps.Clone(r.Jobs)
	keep := job.Keep{Runs: job.Duration(f.runs), Logs: job.Duration(f.logs)}
	facts := job.KeepFacts{Audit: job.Duration(f.audit), Alerts: job.Duration(f.alerts), Discrepancies: job.Duration(f.discrepancies)}
	r.Facts = overFacts(facts, r.Facts)
	if r.Groups == nil {
		r.Groups = map[string]job.Keep{}
	}
	if r.Jobs == nil {
		r.Jobs = map[job.Name]job.Keep{}
	}
	switch {
	case f.remove && (keep != job.Keep{}):
		return r, errors.New("--remove cannot be used with --runs or --logs")
	case f.remove && f.group != "":
		delete(r.Groups, f.group)
	case f.remove && f.job != "":
		delete(r.Jobs, job.Name(f.job))
	case f.remove:
		return r, errors.New("--remove needs --group or --job; the default cannot be removed")
	case (facts != job.KeepFacts{}) && (f.group != "" || f.job != ""):
		return r, errors.New("--audit, --alerts and --discrepancies cannot be set for one group or job")
	case keep == job.Keep{} && facts != job.KeepFacts{}:
	case keep == job.Keep{}:
		return r, errors.New("set a duration with --runs, --logs, --audit, --alerts or --discrepancies")
	case f.group != "":
		r.Groups[f.group] = over(keep, r.Groups[f.group])
	case f.job != "":
		r.Jobs[job.Name(f.job)] = over(keep, r.Jobs[job.Name(f.job)])
	default:
		r.Default = over(keep, r.Default)
	}
	return r, r.Validate()
}

// over returns what keep says, and what was where it says nothing.
func over(keep, was job.Keep) job.Keep {
	if keep.Runs == 0 {
		keep.Runs = was.Runs
	}
	if keep.Logs == 0 {
		keep.Logs = was.Logs
	}
	return keep
}

func overFacts(keep, was job.KeepFacts) job.KeepFacts {
	return job.KeepFacts{
		Audit: cmp.Or(keep.Audit, was.Audit), Alerts: cmp.Or(keep.Alerts, was.Alerts), Discrepancies: cmp.Or(keep.Discrepancies, was.Discrepancies),
	}
}

func readRetention(cmd *cobra.Command, api *client.API) (item client.RetentionItem, etag string, err error) {
	resp, err := api.GetRetention(cmd.Context())
	if err == nil {
		etag = resp.Header.Get("ETag")
	}
	item, err = client.Read[client.RetentionItem](resp, err)
	return item, etag, err
}

func previewBoth(cmd *cobra.Command, api *client.API, was, next job.Retention) (before, after runlog.Effect, err error) {
	if before, err = client.Read[runlog.Effect](api.PreviewRetention(cmd.Context(), was)); err != nil {
		return before, after, err
	}
	after, err = client.Read[runlog.Effect](api.PreviewRetention(cmd.Context(), next))
	return before, after, err
}

func drawRetention(t *draw.Table, item *client.RetentionItem) {
	t.Row("OF", "RUNS", "LOGS")
	row := func(of string, k job.Keep) { t.Row(of, shownKeep(k.Runs), shownKeep(k.Logs)) }
	row("default", item.Retention.Default)
	for _, group := range slices.Sorted(maps.Keys(item.Retention.Groups)) {
		row("group "+group, item.Retention.Groups[group])
	}
	for _, name := range slices.Sorted(maps.Keys(item.Retention.Jobs)) {
		row("job "+string(name), item.Retention.Jobs[name])
	}
	facts := item.Retention.Facts.WithDefaults()
	t.Line("")
	t.Line("audit " + shownKeep(facts.Audit) + ", alerts " + shownKeep(facts.Alerts) + ", discrepancies " + shownKeep(facts.Discrepancies))
	if item.Revision != 0 {
		t.Line("since " + t.Instant(item.ChangedAt) + " by " + t.Cell(item.Author, 40))
	}
}

func shownKeep(d job.Duration) string {
	if d == 0 {
		return "-"
	}
	return cli.Days(time.Duration(d))
}

func drawEffect(t *draw.Table, before, after *runlog.Effect) {
	t.Row("", "RUNS", "LINES", "DISK")
	row := func(of string, a runlog.Amount) {
		t.Row(of, draw.Thousands(a.Runs), draw.Thousands(a.Lines), draw.Bytes(a.Bytes))
	}
	row("now", after.Now)
	row("deleted next", after.Frees)
	row("in the long run", after.Expected)
	if before.Expected != after.Expected {
		row("  without it", before.Expected)
	}
}
