package manifest

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
)

// xxlJobOptions are the flags of import xxl-job.
type xxlJobOptions struct {
	xxljob.Options
	findOptions
}

func newImportXXLJobCommand() *cobra.Command {
	var o xxlJobOptions
	cmd := &cobra.Command{
		Use:   "xxl-job FILE",
		Short: "Import jobs from an XXL-JOB SQL dump",
		Long: "Import jobs from an SQL dump of an XXL-JOB database (- for standard input), and print the result\n" +
			"for each job. The dump needs the tables xxl_job_group and xxl_job_info, of version 2.2 or later.\n" +
			"Other tables are ignored.\n\n" +
			"An executor becomes an executor group, named by its AppName. A job is named by its handler, or\n" +
			"else its description, or else its id; a second job with the same name gets its id appended.\n" +
			"Schedules, misfire strategies, routes, block strategies, timeouts, retries, child jobs and scripts\n" +
			"are kept. A stopped job is paused. GLUE (Java) jobs run only at executors of XXL-JOB, behind\n" +
			"\"carillon bridge xxl-job\". Each imported job gets the tag " + xxljob.Tag + ".\n\n" +
			"With --workflows, each job that has a schedule and child jobs becomes a workflow, which calls it,\n" +
			"its children, their children and so on. Notes list the children that stay children.\n\n" +
			"With --paused, no imported job fires until \"carillon resume\"; a note marks those that were\n" +
			"stopped in XXL-JOB. Without it, jobs that exist stay paused, or active, as they are.\n\n" +
			"Jobs of an earlier import that this dump does not have are listed as left over, and stay.\n\n" +
			"A job that exists and was created or edited by someone else is a conflict: it is unchanged unless\n" +
			"--overwrite is set. With conflicts or broken jobs, the exit code is 1; the other jobs are saved.\n\n" +
			"With -o yaml or -o json, print the jobs as documents for \"carillon apply\". Nothing is saved, and\n" +
			"no server is needed.",
		Example: "  mysqldump xxl_job xxl_job_group xxl_job_info > dump.sql\n" +
			"  carillon import xxl-job dump.sql --zone Asia/Shanghai --dry-run\n" +
			"  carillon import xxl-job dump.sql --zone Asia/Shanghai",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&o.Group, "group", "", "the executor `group` of jobs whose group is not in the dump")
	cmd.Flags().StringVar(&o.Zone, "zone", "", "time `zone` of XXL-JOB's admin (default this machine's)")
	cmd.Flags().BoolVar(&o.Workflows, "workflows", false, "make a workflow of each job that has a schedule and child jobs")
	o.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, err := readImport("dump", args[0], cmd.InOrStdin(), xxljob.MaxDump)
		if err != nil {
			return nothingChanged(err)
		}
		if o.Zone == "" {
			o.Zone = cli.LocalZone()
		}
		entries, err := xxljob.Import(cmd.Context(), data, o.Options)
		if err != nil {
			return nothingChanged(cli.Usage(err))
		}
		f := findings{file: args[0], of: "XXL-JOB", stopped: "stopped", zone: o.Zone, madeBy: xxljob.MadeBy, findOptions: o.findOptions}
		for _, e := range entries {
			f.add(finding{number: strconv.Itoa(e.ID), what: "job", line: e.Line, title: e.Title, outcome: string(e.Outcome), note: e.Note, origin: e.Origin, job: e.Job})
		}
		return f.bringIn(r, cmd)
	}
	return cmd
}
