package manifest

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/powerjob"
)

// powerJobOptions are the flags of import powerjob.
type powerJobOptions struct {
	powerjob.Options
	findOptions
}

func newImportPowerJobCommand() *cobra.Command {
	var o powerJobOptions
	cmd := &cobra.Command{
		Use:   "powerjob FILE --group GROUP",
		Short: "Import jobs and workflows from PowerJob's answers in JSON",
		Long: "Import the jobs and workflows of an application of PowerJob (- for standard input), and print the\n" +
			"result for each. The file has what PowerJob's server answers for them, one after the other or in a\n" +
			"list: /workflow/fetch, /job/list, /job/export, /openApi/fetchWorkflow or /openApi/fetchAllJob.\n\n" +
			"The application becomes an executor group. A workflow becomes a job with steps, which call the jobs\n" +
			"of its nodes. Disabled nodes are left out. Decisions that compare values become conditions; others\n" +
			"become steps with a handler that you have to write.\n\n" +
			"With --paused, no imported job fires until \"carillon resume\"; a note marks those that were\n" +
			"disabled in PowerJob. Without it, jobs that exist stay paused, or active, as they are.\n\n" +
			"A job that exists and was created or edited by someone else is a conflict: it is unchanged unless\n" +
			"--overwrite is set. With conflicts or broken jobs, the exit code is 1; the other jobs are saved.\n\n" +
			"With -o yaml or -o json, print the jobs as documents for \"carillon apply\". Nothing is saved, and\n" +
			"no server is needed.",
		Example: "  carillon import powerjob etl.json --group etl --zone Asia/Shanghai --dry-run\n" +
			"  carillon import powerjob etl.json --group etl --zone Asia/Shanghai",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&o.Group, "group", "", "the executor `group` that the application becomes")
	cmd.Flags().StringVar(&o.Zone, "zone", "", "time `zone` of PowerJob's servers (default this machine's)")
	o.addFlags(cmd)
	if err := cmd.MarkFlagRequired("group"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, err := readImport("file", args[0], cmd.InOrStdin(), powerjob.MaxFile)
		if err != nil {
			return nothingChanged(err)
		}
		if o.Zone == "" {
			o.Zone = cli.LocalZone()
		}
		entries, err := powerjob.Import(data, o.Options)
		if err != nil {
			return nothingChanged(cli.Usage(err))
		}
		f := findings{file: args[0], of: "PowerJob", stopped: "disabled", zone: o.Zone, madeBy: powerjob.MadeBy, findOptions: o.findOptions}
		for _, e := range entries {
			what := "job"
			if e.Workflow {
				what = "workflow"
			}
			number := strconv.FormatInt(e.ID, 10)
			if e.ID == 0 {
				number = "-"
			}
			f.add(finding{number: number, what: what, title: e.Title, outcome: string(e.Outcome), note: strings.Join(e.Notes, "; "), origin: e.Origin, job: e.Job})
		}
		return f.bringIn(r, cmd)
	}
	return cmd
}
