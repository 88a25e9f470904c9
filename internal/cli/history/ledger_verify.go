package history

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

func newLedgerVerifyCommand() *cobra.Command {
	var within cli.Range
	var group, by string
	var found bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that every fire has a run or a recorded reason",
		Long: "Verify for all jobs that every fire has a run, or a recorded reason for having none. The exit code\n" +
			"is 1 if there is a discrepancy. Fires that cannot be verified are counted separately: those that\n" +
			"are too recent to be decided, and those older than the history. \"carillon ledger show JOB\" lists\n" +
			"the fires of one job. \"carillon audit-log\" shows who changed what.\n\n" +
			"With --found, list the discrepancies that the servers have found over time. The servers check each\n" +
			"one again. A discrepancy heals if its run is recorded later. The exit code is 1 while one is not\n" +
			"healed.",
		Example: "  carillon ledger verify\n  carillon ledger verify --group billing --since 30d\n  carillon ledger verify --by day -o json\n  carillon ledger verify --found --since 90d",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	within.Add(cmd.Flags(), "24h")
	cmd.Flags().StringVarP(&group, "group", "g", "", "only jobs of this executor `group`")
	cmd.Flags().StringVar(&by, "by", string(byGroup), "one row per group, job or day")
	cmd.Flags().DurationVar(&limit, "timeout", 10*time.Minute, "time limit for the check; 0 is no limit")
	cmd.Flags().BoolVar(&found, "found", false, "list the discrepancies that the servers have found, without a new check")
	cmd.MarkFlagsMutuallyExclusive("found", "by")
	cli.Complete(cmd, "by", string(byGroup), string(byJob), string(byDay))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rows, err := parseRows(by)
		if err != nil {
			return cli.Usage(err)
		}
		from, to, err := within.Read(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if found {
			return showFound(cmd, r, api, client.ListDiscrepanciesParams{From: &from, To: &to, Group: client.Optional(group)})
		}
		page, err := verified(cmd, r, api, client.VerifyLedgerParams{From: &from, To: &to, Group: client.Optional(group)}, limit)
		if err != nil {
			return err
		}
		if err := r.Show(cmd.OutOrStdout(), page, func(t *draw.Table) { drawVerified(t, page, rows) }); err != nil {
			return err
		}
		if page.Total.Discrepancies > 0 {
			return cli.ExitWith(cli.ExitError, nil)
		}
		return nil
	}
	return cmd
}

// auditTold is how often a person is told how far an audit has come.
const auditTold = 5 * time.Second

// audited audits page by page, and on standard error says how far it has come.
func verified(cmd *cobra.Command, r *cli.Remote, api *client.API, params client.VerifyLedgerParams, limit time.Duration) (client.VerifiedPage, error) {
	ctx := cmd.Context()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	told := time.Now()
	page, err := api.Verified(ctx, params, func(sofar client.VerifiedPage) {
		if time.Since(told) >= auditTold {
			told = time.Now()
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "verified %s so far; %s\n", draw.Count(sofar.Total.Fires, "fire"), countIs(sofar.Total.Discrepancies, "discrepancy", "discrepancies"))
		}
	}, r.Again)
	if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
		return page, fmt.Errorf("%w: the check took longer than %s and verified only %s; narrow it with --since or --group, or raise --timeout",
			job.ErrUnavailable, job.Duration(limit), draw.Count(page.Total.Fires, "fire"))
	}
	return page, err
}

func countIs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// showFound shows what the continuous audit has found, also of fires that are kept no more.
func showFound(cmd *cobra.Command, r *cli.Remote, api *client.API, p client.ListDiscrepanciesParams) error {
	all := client.DiscrepancyPage{Items: []client.Discrepancy{}}
	for {
		page, err := client.Again(cmd.Context(), r.Again, func() (client.DiscrepancyPage, error) {
			return client.Read[client.DiscrepancyPage](api.ListDiscrepancies(cmd.Context(), &p))
		})
		if err != nil {
			return err
		}
		all.Items = append(all.Items, page.Items...)
		if page.Next == "" {
			break
		}
		p.Cursor = &page.Next
	}
	open := 0
	for i := range all.Items {
		if all.Items[i].HealedAt.IsZero() {
			open++
		}
	}
	err := r.Show(cmd.OutOrStdout(), all, func(t *draw.Table) { drawFound(t, all.Items, open) })
	if err == nil && open > 0 {
		return cli.ExitWith(cli.ExitError, nil)
	}
	return err
}

func drawFound(t *draw.Table, found []client.Discrepancy, open int) {
	if len(found) == 0 {
		t.Line("no discrepancies found")
		return
	}
	t.Row("JOB", "FIRE TIME", "VERSION", "RUN", "DISCREPANCY", "FOUND", "HEALED")
	for i := range found {
		f := &found[i]
		healed := "-"
		if !f.HealedAt.IsZero() {
			healed = t.Millis(f.HealedAt) + ": " + string(f.Healed)
		}
		t.Row(string(f.Job), t.Millis(f.FireTime), draw.OrDash(countOrNone(f.Version)), string(f.RunID), string(f.Reason), t.Millis(f.FoundAt), healed)
	}
	t.Line("")
	t.Line(fmt.Sprintf("%s, %d of them healed.", countIs(len(found), "discrepancy", "discrepancies"), len(found)-open))
}

// rowsBy says what each row of an audit's table is about.
type rowsBy string

const (
	byGroup rowsBy = "group"
	byJob   rowsBy = "job"
	byDay   rowsBy = "day"
)

func parseRows(s string) (rowsBy, error) {
	switch by := rowsBy(s); by {
	case byGroup, byJob, byDay:
		return by, nil
	}
	return "", fmt.Errorf("--by %q must be group, job or day", s)
}

func drawVerified(t *draw.Table, page client.VerifiedPage, by rowsBy) {
	if len(page.Days) > 0 {
		t.Row(tallyHeads(string(by))...)
	}
	for i := 0; i < len(page.Days); {
		key, sum := rowKey(&page.Days[i], by), outcome.Tally{}
		for ; i < len(page.Days) && rowKey(&page.Days[i], by) == key; i++ {
			sum.Merge(page.Days[i].Tally)
		}
		t.Row(tallyRow(key, sum)...)
	}
	if len(page.Discrepancies) > 0 {
		t.Line("")
		t.Row("JOB", "FIRE TIME", "VERSION", "RUN", "DISCREPANCY")
		for i := range page.Discrepancies {
			f := &page.Discrepancies[i]
			t.Row(string(f.Job), t.Millis(f.FireTime), draw.OrDash(countOrNone(f.Version)), string(f.RunID), string(f.Reason))
		}
	}
	if len(page.Days) > 0 {
		t.Line("")
	}
	t.Line(saidOf(page.Total))
	t.Line("All shards are decided up to " + t.Millis(page.DecidedUntil) + ".")
}

// rowKey returns which row a day belongs to. Days come in the order of the keys.
func rowKey(d *outcome.Day, by rowsBy) string {
	switch by {
	case byGroup:
		return d.Job.Group()
	case byDay:
		return string(d.Job) + " " + d.Date.UTC().Format("2006-01-02")
	case byJob:
	}
	return string(d.Job)
}

func tallyHeads(of string) []string {
	head := map[string]string{string(byGroup): "GROUP", string(byJob): "JOB", string(byDay): "JOB AND DAY"}[of]
	return []string{head, "FIRES", "RAN", "CAUGHT UP", "REPORTED", "PENDING", "SKIPPED", "MISSED", "UNDECIDED", "UNJUDGED", "DISCREPANCIES"}
}

func tallyRow(key string, c outcome.Tally) []string {
	row := []string{key}
	for _, n := range []int{c.Fires, c.Ran, c.CaughtUp, c.Reported, c.Pending, c.Skipped, c.Missed, c.Undecided, c.Unjudged, c.Discrepancies} {
		row = append(row, strconv.Itoa(n))
	}
	return row
}
