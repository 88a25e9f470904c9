package manifest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
	"github.com/carillon-scheduler/carillon/job"
)

// conflict is what becomes of a job that somebody else has made, or edited since the last import.
const conflict = "conflict"

// xxlJobOptions are the flags of import xxl-job.
type xxlJobOptions struct {
	xxljob.Options
	overwrite bool
	dryRun    bool
	paused    bool
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
	cmd.Flags().BoolVar(&o.overwrite, "overwrite", false, "overwrite jobs that were created or edited by someone else")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the result for each job without saving")
	cmd.Flags().BoolVar(&o.paused, "paused", false, "save all jobs paused that have a schedule")
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
		if o.paused {
			pauseEntries(entries)
		}
		results := map[job.Name]string{}
		if !r.Output.IsData() {
			err = importEntries(r, cmd, args[0], entries, results, o)
		} else {
			err = printJobs(cmd.OutOrStdout(), r.Output, jobsOfEntries(entries))
			drawUnmade(cmd, entries)
			drawPitfalls(cmd.ErrOrStderr(), jobsOfEntries(entries))
		}
		if err != nil {
			return err
		}
		return unlessChanged(results, leftOut(entries, results))
	}
	return cmd
}

// pauseEntries pauses the jobs that have a schedule, and notes those that were stopped in XXL-JOB.
func pauseEntries(entries []xxljob.Entry) {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Outcome != xxljob.Imported || e.Job.Schedule.Kind() == job.KindManual:
		case e.Job.Paused && e.Note != "":
			e.Note = "stopped in XXL-JOB; " + e.Note
		case e.Job.Paused:
			e.Note = "stopped in XXL-JOB"
		default:
			e.Job.Paused = true
		}
	}
}

// importEntries saves the jobs, and shows what became of each.
func importEntries(r *cli.Remote, cmd *cobra.Command, file string, entries []xxljob.Entry, results map[job.Name]string, o xxlJobOptions) error {
	docs, err := documentsOf(file, jobsOfEntries(entries))
	if err != nil {
		return err
	}
	var left []job.Name
	warnings := map[job.Name][]client.FieldError{}
	if len(docs) > 0 {
		api, err := r.API()
		if err != nil {
			return nothingChanged(err)
		}
		p := planner{api: api}
		changes, err := p.plan(cmd.Context(), docs)
		if err != nil {
			return nothingChanged(err)
		}
		if err := p.findConflicts(cmd.Context(), changes, entries, o.overwrite); err != nil {
			return nothingChanged(err)
		}
		for _, c := range changes {
			results[job.Name(c.Name)], warnings[job.Name(c.Name)] = c.Result, c.Warnings
		}
		if left, err = p.leftInGroups(cmd.Context(), results); err != nil {
			return nothingChanged(err)
		}
		changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Result == conflict })
		if !o.dryRun {
			if err := carryOut(cmd.Context(), p, changes); err != nil {
				return err
			}
		}
	}
	return cli.AsTable.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), nil, func(t *draw.Table) { drawEntries(t, entries, results, warnings, left, o) })
}

// leftInGroups returns the jobs that earlier imports from XXL-JOB made in the groups of the made ones, that nobody
// has edited since, and that are not among these.
func (p planner) leftInGroups(ctx context.Context, made map[job.Name]string) ([]job.Name, error) {
	groups := map[string]bool{}
	for name := range made {
		groups[name.Group()] = true
	}
	var left []job.Name
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		page, err := p.api.Jobs(ctx, client.ListJobsParams{Group: &group, Fires: new(0), Runs: new(0)}, 0)
		if err != nil {
			return nil, fmt.Errorf("list the jobs of group %s: %w", group, err)
		}
		for _, item := range page.Items {
			name := item.Definition.Job.Job
			if _, is := made[name]; !is && xxljob.MadeBy(item.Definition.Note) {
				left = append(left, name)
			}
		}
	}
	return left, nil
}

// findConflicts gives each change the note that says where the job comes from, and makes it a
// conflict if the job that it would change comes from elsewhere.
func (p planner) findConflicts(ctx context.Context, changes []Change, entries []xxljob.Entry, overwrite bool) error {
	origins := map[string]string{}
	for _, e := range entries {
		origins[string(e.Job.Job)] = e.Origin
	}
	for i := range changes {
		c := &changes[i]
		c.note = origins[c.Name]
		if c.Result != changed || overwrite {
			continue
		}
		name := job.Name(c.Name)
		was, err := client.Read[client.JobItem](p.api.GetJob(ctx, name.Group(), name.Short(), nil))
		if err != nil {
			return fmt.Errorf("read job %s: %w", name, err)
		}
		if was.Definition.Note != c.note {
			c.Result = conflict
		}
	}
	return nil
}

// jobsOfEntries returns the jobs among entries.
func jobsOfEntries(entries []xxljob.Entry) []imported {
	var jobs []imported
	for _, e := range entries {
		if e.Outcome == xxljob.Imported {
			jobs = append(jobs, imported{job: e.Job, line: e.Line})
		}
	}
	markCalled(jobs)
	return jobs
}

func drawEntries(t *draw.Table, entries []xxljob.Entry, results map[job.Name]string, warnings map[job.Name][]client.FieldError, left []job.Name, o xxlJobOptions) {
	t.Row("ID", "OUTCOME", "JOB", "NOTE")
	count, said := map[string]int{}, map[client.FieldError]bool{}
	for _, e := range entries {
		name, outcome, note := "-", string(e.Outcome), e.Note
		if e.Outcome == xxljob.Imported {
			name, outcome = string(e.Job.Job), results[e.Job.Job]
		}
		count[outcome]++
		if outcome == conflict {
			note = "already exists, and was edited or not imported from this job"
		}
		if note == "" {
			note = e.Title
		}
		t.Row(strconv.Itoa(e.ID), outcome, name, t.Cell(note, 110))
		drawImportWarnings(t, warnings[job.Name(name)], said)
	}
	for _, name := range left {
		t.Row("-", "left over", string(name), "an earlier import made it, and it is not in this dump; \"carillon delete\" removes it")
	}
	text := fmt.Sprintf("%d created, %d changed, %d unchanged, %s, %d skipped, %d broken; zone %s",
		count[created], count[changed], count[unchanged], draw.Count(count[conflict], conflict), count[string(xxljob.Skipped)], count[string(xxljob.Broken)], o.Zone)
	t.Line(text + savedAs(o.paused, o.dryRun))
}

// drawUnmade lists what is not among the documents, where the table is not shown.
func drawUnmade(cmd *cobra.Command, entries []xxljob.Entry) {
	for _, e := range entries {
		if e.Outcome != xxljob.Imported {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "job %d %s: %s\n", e.ID, e.Outcome, e.Note)
		}
	}
}

// leftOut is the error of a dump with jobs that are broken, or that are here already.
func leftOut(entries []xxljob.Entry, results map[job.Name]string) error {
	broken, conflicts := 0, 0
	for _, e := range entries {
		switch {
		case e.Outcome == xxljob.Broken:
			broken++
		case results[e.Job.Job] == conflict:
			conflicts++
		}
	}
	if broken+conflicts == 0 {
		return nil
	}
	return cli.ExitWith(cli.ExitError, errors.New("left out: "+draw.Count(conflicts, conflict)+" and "+draw.Count(broken, "broken job")))
}
