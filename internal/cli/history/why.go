package history

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

func newWhyCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "why JOB --at TIME",
		Short: "Explain why a job ran, or did not run, in one minute",
		Long: "Explain in one sentence why a job ran in the minute that begins at a time, or why it did not: the\n" +
			"outcome of its fire and the reason, or the part of the schedule that has no fire then. For a time\n" +
			"ahead, what will happen. The commands below the sentence repair it.\n\n" +
			"The time is in the zone of the job, unless it has an offset.",
		Example: "  carillon why ops/backup --at \"2026-03-01 09:00\"\n  carillon why ops/backup --at 2026-03-01T09:00:00Z -o json",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	cmd.Flags().StringVar(&at, "at", "", "the `time`, such as \"2026-03-01 09:00\" in the zone of the job, or RFC 3339")
	if err := cmd.MarkFlagRequired("at"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		a, err := client.Read[client.Answer](api.WhyJob(cmd.Context(), name.Group(), name.Short(), &client.WhyJobParams{At: at}))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), a, func(t *draw.Table) { drawWhy(t, &a) })
	}
	return cmd
}

func drawWhy(t *draw.Table, a *client.Answer) {
	t.Line(t.Cell(string(a.Reason), maxSentence))
	t.Line("")
	for _, near := range []struct {
		what string
		at   time.Time
	}{{"fire before", a.Before}, {"fire after", a.After}} {
		if !near.at.IsZero() {
			t.Row(near.what, t.Millis(near.at))
		}
	}
	for _, r := range a.Remedies {
		t.Row(commandOf(a, r))
	}
}

// maxSentence is more than any sentence of the server has, but for what handlers and people wrote.
const maxSentence = 1000

// commandOf returns the command that does what a remedy says.
func commandOf(a *client.Answer, r outcome.Remedy) string {
	group := a.Job.Group()
	switch r {
	case outcome.ResumeJob:
		return fmt.Sprintf("carillon resume %s", a.Job)
	case outcome.ResumeGroup:
		return "carillon group resume " + group
	case outcome.ResumeAll:
		return "carillon resume --all"
	case outcome.TakeBackSkip:
		return fmt.Sprintf("carillon skip %s --fire %s --undo", a.Job, a.FireTime.Format(time.RFC3339Nano))
	case outcome.RunFire:
		end := a.FireTime.Add(time.Millisecond).Format(time.RFC3339Nano)
		return fmt.Sprintf("carillon backfill %s --from %s --to %s --only %s", a.Job, a.FireTime.Format(time.RFC3339Nano), end, a.Verdict)
	case outcome.RunNow:
		return fmt.Sprintf("carillon run %s", a.Job)
	case outcome.EditSchedule:
		return fmt.Sprintf("carillon get jobs %s -o yaml", a.Job)
	case outcome.EditCalendar:
		return "carillon get calendars " + a.Calendar
	case outcome.StartExecutor:
		return "carillon executor --group " + group
	case outcome.EarlierRuns:
		return fmt.Sprintf("carillon get runs --job %s --status running,pending,queued", a.Job)
	case outcome.OpenRun:
		return fmt.Sprintf("carillon get runs %s", a.RunID)
	case outcome.OpenServers:
		return "carillon get nodes"
	case outcome.OpenLedger:
		return fmt.Sprintf("carillon ledger show %s", a.Job)
	}
	return ""
}
