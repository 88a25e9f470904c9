package job

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/manifest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGetVersionsCommand() *cobra.Command {
	var from, to int
	cmd := &cobra.Command{
		Use:   "versions JOB",
		Short: "List the versions of a job, or compare two",
		Long: "List the versions of a job, newest first, with author and note; -o yaml includes their scripts.\n" +
			"With --from or --to, compare two versions. \"carillon rollback JOB --version N --dry-run\" shows\n" +
			"what a rollback would change.",
		Example: "  carillon get versions billing/report\n  carillon get versions billing/report --from 3 --to 5\n  carillon get versions billing/report -o json | jq -r '.items[1].task.script.source'",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().IntVar(&from, "from", 0, "compare from this `version` (default: the one before)")
	cmd.Flags().IntVar(&to, "to", 0, "compare to this `version` (default: the newest)")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if from != 0 || to != 0 {
			d, err := client.Read[client.JobDiff](api.DiffJob(cmd.Context(), name.Group(), name.Short(), &client.DiffJobParams{From: client.Optional(from), To: client.Optional(to)}))
			if err != nil {
				return err
			}
			return r.Show(cmd.OutOrStdout(), d, func(t *draw.Table) { drawDiff(t, d) })
		}
		list, err := client.Read[client.VersionList](api.ListJobVersions(cmd.Context(), name.Group(), name.Short()))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), list, func(t *draw.Table) { drawVersions(t, list) })
	}
	return cmd
}

func drawVersions(t *draw.Table, list client.VersionList) {
	t.Row("VERSION", "SINCE", "BY", "TASK", "NOTE")
	for _, v := range list.Items {
		what := taskOf(&v.Job)
		switch {
		case v.Format > job.VersionFormat:
			what = "saved by a newer version; this program cannot read it"
		case v.Deleted:
			what = "deleted"
		}
		t.Row(strconv.Itoa(v.Version), t.Instant(v.EffectiveFrom), t.Cell(v.Author, 20), t.Cell(what, 60), t.Cell(v.Note, draw.NoteWidth))
	}
}

func drawDiff(t *draw.Table, d client.JobDiff) {
	if len(d.Changes) == 0 {
		t.Line(fmt.Sprintf("versions %d and %d of %s are equal", d.From, d.To, d.Job))
		return
	}
	for _, c := range d.Changes {
		t.Line(manifest.FieldChange(t, c))
	}
}
