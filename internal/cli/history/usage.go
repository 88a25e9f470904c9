package history

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newUsageCommand() *cobra.Command {
	var f selection.RunFilter
	var parts int
	cmd := &cobra.Command{
		Use:   "usage GROUP|JOB",
		Short: "Show waiting runs, throughput and slots in use of a group or a job over time",
		Long: "Show how busy the executors of a group were, in equal intervals: how many runs waited on average,\n" +
			"the longest wait, how many runs started and ended, and how many slots were in use on average.\n" +
			"Of a job, the slots in use are its runs at once.",
		Example: "  carillon report usage billing\n  carillon report usage billing --since 24h --parts 24\n  carillon report usage billing/report",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&f.Since, "since", "1h", "the last `duration`, such as 90m or 7d")
	cmd.Flags().StringVar(&f.From, "from", "", "from this `time` on (RFC 3339)")
	cmd.Flags().StringVar(&f.To, "to", "", "before this `time` (RFC 3339)")
	cmd.Flags().IntVar(&parts, "parts", 12, "number of intervals, up to 240")
	cmd.MarkFlagsMutuallyExclusive("since", "from")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		name, isJob := job.Name(args[0]), strings.Contains(args[0], "/")
		if isJob {
			_, err = job.ParseName(args[0])
		} else {
			err = job.CheckSlug("group", args[0])
		}
		if err != nil {
			return cli.Usage(err)
		}
		if f.From != "" {
			f.Since = ""
		}
		p, err := f.Params(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		ranged := client.GetGroupUsageParams{From: p.From, To: p.To, Parts: &parts}
		var usage client.GroupUsage
		if isJob {
			ofJob := client.GetJobUsageParams(ranged)
			usage, err = client.Read[client.GroupUsage](api.GetJobUsage(cmd.Context(), name.Group(), name.Short(), &ofJob))
		} else {
			usage, err = client.Read[client.GroupUsage](api.GetGroupUsage(cmd.Context(), args[0], &ranged))
		}
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), usage, func(t *draw.Table) { drawUsage(t, usage) })
	}
	return cmd
}

func drawUsage(t *draw.Table, usage client.GroupUsage) {
	t.Row("FROM", "WAITING", "LONGEST WAIT", "STARTED", "ENDED", "SLOTS IN USE")
	for _, p := range usage.Items {
		t.Row(t.Instant(p.At), average(p.Waiting), draw.Took(p.At, p.At.Add(time.Duration(p.LongestWait)*time.Millisecond)), strconv.Itoa(p.Started), strconv.Itoa(p.Ended), average(p.SlotsInUse))
	}
}

func average(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }
