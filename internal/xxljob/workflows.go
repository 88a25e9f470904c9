package xxljob

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// workflowSuffix is what follows the name of a job in that of the workflow which calls it and its children.
const workflowSuffix = "-workflow"

// workflowOrigin ends the note of a workflow; before it is that of its first job.
const workflowOrigin = " workflow"

// chains are the imported jobs and their child links, while workflows are made of them.
type chains struct {
	entries []Entry
	index   map[job.Name]int
	looped  map[int]bool // entries whose child leads back to them
	parents map[int][]int
	// callers are the entries whose workflow calls an entry.
	callers map[int][]int
	names   map[job.Name]bool // that are taken
}

// makeWorkflows adds a workflow for each job with a schedule and children, right after it: it has the schedule, and
// calls the job, its children, theirs, and so on. Children of no workflow stay as they are, and the notes say why.
func makeWorkflows(entries []Entry, names map[job.Name]bool, looped map[int]bool) []Entry {
	c := &chains{entries: entries, index: map[job.Name]int{}, looped: looped, parents: map[int][]int{}, callers: map[int][]int{}, names: names}
	for i := range entries {
		if entries[i].Outcome == Imported {
			c.index[entries[i].Job.Job] = i
		}
	}
	for i := range entries {
		for _, child := range c.children(i) {
			c.parents[child] = append(c.parents[child], i)
		}
	}
	made := map[int]Entry{}
	for i := range entries {
		if !c.begins(i) {
			continue
		}
		made[i] = c.workflow(i)
		if made[i].Outcome == Imported {
			for _, called := range c.reached(i) {
				c.callers[called] = append(c.callers[called], i)
			}
		}
	}
	c.release(made)
	var all []Entry
	for i := range entries {
		all = append(all, entries[i])
		if w := made[i]; w.Outcome == Imported {
			all = append(all, w)
		}
	}
	return all
}

// children returns the entries that follow an entry.
func (c *chains) children(i int) []int {
	var all []int
	for _, child := range c.entries[i].Job.Children {
		all = append(all, c.index[child.Job])
	}
	return all
}

// begins reports whether a workflow begins with an entry. A job that was stopped and follows another has a schedule
// that nobody uses.
func (c *chains) begins(i int) bool {
	j := &c.entries[i].Job
	return len(j.Children) > 0 && j.Schedule.Kind() != job.KindManual && (!j.Paused || len(c.parents[i]) == 0)
}

// reached returns an entry and all that follow it, each once and after all those of its parents that are among them.
func (c *chains) reached(from int) []int {
	var order []int
	seen := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		following := c.children(i)
		for _, child := range slices.Backward(following) {
			visit(child)
		}
		order = append(order, i)
	}
	visit(from)
	slices.Reverse(order)
	return order
}

// workflow makes the workflow that begins with an entry. If there can be none, it has another outcome than Imported,
// and the entry's note says why.
func (c *chains) workflow(root int) Entry {
	first := &c.entries[root]
	order := c.reached(root)
	w := Entry{ID: first.ID, Line: first.Line, Title: first.Title, Origin: first.Origin + workflowOrigin, Outcome: Imported}
	for _, i := range order {
		if c.looped[i] {
			first.Note = reason.Join(first.Note, refusal.ChildrenLooped.With(string(c.entries[i].Job.Job)))
			w.Outcome = Skipped
			return w
		}
	}
	j := first.Job
	w.Job = job.Job{
		Job: c.nameFor(j.Job, first.ID), Title: j.Title, Description: j.Description, Owner: j.Owner, Tags: j.Tags,
		Schedule: j.Schedule, Paused: j.Paused, Misfire: j.Misfire, Overlap: j.Overlap, StartWithin: j.StartWithin,
	}
	steps := map[int]string{}
	taken := map[string]bool{}
	var notes []string
	for _, i := range order {
		e := &c.entries[i]
		name, clashed := stepName(e, taken)
		steps[i], taken[name] = name, true
		if clashed {
			notes = append(notes, refusal.StepRenamed.With(string(e.Job.Job), name))
		}
		s := job.Step{Step: workflow.Step{Name: name}, Title: e.Job.Title, Call: e.Job.Job}
		for _, parent := range c.parents[i] {
			if source, ok := steps[parent]; ok {
				s.After = append(s.After, workflow.Edge{Step: source, On: workflow.OnSuccess})
			}
		}
		if len(s.After) > 1 {
			notes = append(notes, refusal.StepRunsOnce.With(name))
		}
		w.Job.Steps = append(w.Job.Steps, s)
	}
	w.Note = reason.Join(notes...)
	if problems := job.Problems(w.Job.Validate()); len(problems) > 0 {
		first.Note = reason.Join(first.Note, refusal.NoWorkflow.With(problems[0].Error()))
		w.Outcome = Broken
		return w
	}
	c.names[w.Job.Job] = true
	return w
}

// nameFor returns a name for the workflow that begins with a job. It takes it for nobody yet.
func (c *chains) nameFor(first job.Name, id int) job.Name {
	short := first.Short()
	short = short[:min(len(short), job.MaxSlug-len(workflowSuffix)-len("-2147483647"))]
	name := job.Name(first.Group() + "/" + short + workflowSuffix)
	if c.names[name] {
		name += job.Name("-" + strconv.Itoa(id))
	}
	return name
}

// stepName returns the name of the step that calls the job of an entry, and whether another one has the plain name.
func stepName(e *Entry, taken map[string]bool) (name string, clashed bool) {
	name = strings.ReplaceAll(e.Job.Job.Short(), "-", "_")
	if name[0] < 'a' {
		name = "job_" + name[:min(len(name), workflow.MaxName-len("job_"))]
	}
	id := "_" + strconv.Itoa(e.ID)
	for taken[name] {
		name, clashed = name[:min(len(name), workflow.MaxName-len(id))]+id, true
	}
	return name, clashed
}

// release takes from the jobs of workflows what the workflows do for them: the schedule of the first, and all
// children, but for those that a job needs which is in no workflow.
func (c *chains) release(made map[int]Entry) {
	kept := map[int]bool{}
	for i := range c.entries {
		if len(c.entries[i].Job.Children) == 0 || len(c.callers[i]) > 0 {
			continue
		}
		e := &c.entries[i]
		if _, tried := made[i]; !tried && len(c.parents[i]) == 0 {
			e.Note = reason.Join(e.Note, refusal.ChildrenKept.String())
		}
		for _, follows := range c.reached(i) {
			kept[follows] = true
		}
	}
	for i := range c.entries {
		e := &c.entries[i]
		if len(c.callers[i]) == 0 {
			continue
		}
		schedule := e.Job.Schedule
		switch w, is := made[i]; {
		case is && w.Outcome == Imported:
			e.Note = reason.Join(e.Note, refusal.ScheduleMoved.With(string(w.Job.Job)))
			e.Job.Schedule, e.Job.Misfire = job.Schedule{}, job.Misfire{}
		case e.Job.Paused:
			e.Note = reason.Join(e.Note, refusal.StoppedSchedule.With(cmp.Or(schedule.Cron, fmt.Sprint(schedule.Kind()))))
			e.Job.Schedule, e.Job.Misfire = job.Schedule{}, job.Misfire{}
		}
		e.Job.Paused = e.Job.Paused && e.Job.Schedule.Kind() != job.KindManual
		if !kept[i] {
			e.Job.Children = nil
		}
	}
}
