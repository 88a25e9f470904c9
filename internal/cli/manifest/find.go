package manifest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// conflict is what becomes of a job that somebody else has made, or edited since the last import.
const conflict = "conflict"

// What an importer says of a job of another scheduler.
const (
	madeJob = "imported"
	skipped = "skipped"
	broken  = "broken"
)

// finding is a job or workflow of another scheduler, and what was made of it.
type finding struct {
	number  string // there
	what    string // job or workflow
	line    int
	title   string
	outcome string
	note    string
	// origin is the note of the version that is saved.
	origin string
	job    job.Job
}

// findOptions are the flags of imports from other schedulers.
type findOptions struct {
	overwrite bool
	dryRun    bool
	paused    bool
}

func (o *findOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.overwrite, "overwrite", false, "overwrite jobs that were created or edited by someone else")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the result for each job without saving")
	cmd.Flags().BoolVar(&o.paused, "paused", false, "save all jobs paused that have a schedule")
}

// findings are what a file of another scheduler has.
type findings struct {
	findOptions
	file    string
	of      string // the other scheduler
	stopped string // its word for a job that does not fire
	zone    string
	madeBy  func(note string) bool // reports whether an earlier import has made the version
	all     []finding
}

// add adds a finding, paused if that is wished.
func (f *findings) add(one finding) {
	if f.paused && one.outcome == madeJob && one.job.Schedule.Kind() != job.KindManual {
		stopped := f.stopped + " in " + f.of
		switch {
		case !one.job.Paused:
			one.job.Paused = true
		case one.note != "":
			one.note = stopped + "; " + one.note
		default:
			one.note = stopped
		}
	}
	f.all = append(f.all, one)
}

// bringIn saves the jobs and shows what became of each, or prints them as documents.
func (f *findings) bringIn(r *cli.Remote, cmd *cobra.Command) error {
	results := map[job.Name]string{}
	var err error
	if !r.Output.IsData() {
		err = f.save(r, cmd, results)
	} else {
		err = printJobs(cmd.OutOrStdout(), r.Output, f.jobs())
		f.drawUnmade(cmd)
		drawPitfalls(cmd.ErrOrStderr(), f.jobs())
	}
	if err != nil {
		return err
	}
	return unlessChanged(results, f.leftOut(results))
}

// save saves the jobs, and shows what became of each.
func (f *findings) save(r *cli.Remote, cmd *cobra.Command, results map[job.Name]string) error {
	docs, err := documentsOf(f.file, f.jobs())
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
		if err := f.findConflicts(cmd.Context(), p, changes); err != nil {
			return nothingChanged(err)
		}
		for _, c := range changes {
			results[job.Name(c.Name)], warnings[job.Name(c.Name)] = c.Result, c.Warnings
		}
		if left, err = f.leftInGroups(cmd.Context(), p, results); err != nil {
			return nothingChanged(err)
		}
		changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Result == conflict })
		if !f.dryRun {
			if err := carryOut(cmd.Context(), p, changes); err != nil {
				return err
			}
		}
	}
	return cli.AsTable.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), nil, func(t *draw.Table) { f.draw(t, results, warnings, left) })
}

// leftInGroups returns the jobs that earlier imports made in the groups of the made ones, that nobody has
// edited since, and that are not among these.
func (f *findings) leftInGroups(ctx context.Context, p planner, made map[job.Name]string) ([]job.Name, error) {
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
			if _, is := made[name]; !is && f.madeBy(item.Definition.Note) {
				left = append(left, name)
			}
		}
	}
	return left, nil
}

// findConflicts gives each change the note that says where the job comes from, and makes it a
// conflict if the job that it would change comes from elsewhere.
func (f *findings) findConflicts(ctx context.Context, p planner, changes []Change) error {
	origins := map[string]string{}
	for i := range f.all {
		origins[string(f.all[i].job.Job)] = f.all[i].origin
	}
	for i := range changes {
		c := &changes[i]
		c.note = origins[c.Name]
		if c.Result != changed || f.overwrite {
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

// jobs returns what was made.
func (f *findings) jobs() []imported {
	var jobs []imported
	for i := range f.all {
		if one := &f.all[i]; one.outcome == madeJob {
			jobs = append(jobs, imported{job: one.job, line: one.line})
		}
	}
	markCalled(jobs)
	return jobs
}

func (f *findings) draw(t *draw.Table, results map[job.Name]string, warnings map[job.Name][]client.FieldError, left []job.Name) {
	t.Row("ID", "OUTCOME", "JOB", "NOTE")
	count, said := map[string]int{}, map[client.FieldError]bool{}
	for i := range f.all {
		one := &f.all[i]
		name, outcome, note := "-", one.outcome, one.note
		if outcome == madeJob {
			name, outcome = string(one.job.Job), results[one.job.Job]
		}
		count[outcome]++
		if outcome == conflict {
			note = "already exists, and was edited or not imported from this " + one.what
		}
		if note == "" {
			note = one.title
		}
		t.Row(one.number, outcome, name, t.Cell(note, 110))
		drawImportWarnings(t, warnings[job.Name(name)], said)
	}
	for _, name := range left {
		t.Row("-", "left over", string(name), "an earlier import made it, and it is not in this file; \"carillon delete\" removes it")
	}
	text := fmt.Sprintf("%d created, %d changed, %d unchanged, %s, %d skipped, %d broken; zone %s",
		count[created], count[changed], count[unchanged], draw.Count(count[conflict], conflict), count[skipped], count[broken], f.zone)
	t.Line(text + savedAs(f.paused, f.dryRun))
}

// drawUnmade lists what is not among the documents, where the table is not shown.
func (f *findings) drawUnmade(cmd *cobra.Command) {
	for i := range f.all {
		if one := &f.all[i]; one.outcome != madeJob {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s %s %s: %s\n", one.what, one.number, one.outcome, one.note)
		}
	}
}

// leftOut is the error of a file with jobs that are broken, or that are here already.
func (f *findings) leftOut(results map[job.Name]string) error {
	wrong, conflicts := 0, 0
	for i := range f.all {
		switch one := &f.all[i]; {
		case one.outcome == broken:
			wrong++
		case results[one.job.Job] == conflict:
			conflicts++
		}
	}
	if wrong+conflicts == 0 {
		return nil
	}
	return cli.ExitWith(cli.ExitError, errors.New("left out: "+draw.Count(conflicts, conflict)+" and "+draw.Count(wrong, "broken job")))
}
