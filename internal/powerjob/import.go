package powerjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Tag is given to each imported job, so that people find the jobs that they have moved.
const Tag = "powerjob"

// Outcome says what became of a job or workflow.
type Outcome string

// The outcomes.
const (
	Imported Outcome = "imported" // it is a job here too
	Skipped  Outcome = "skipped"  // there is nothing to run
	Broken   Outcome = "broken"   // it makes no job that could be saved
)

// Entry is a job or a workflow of the file, and what became of it.
type Entry struct {
	Workflow bool
	ID       int64
	Title    string // what PowerJob calls it
	Outcome  Outcome
	// Notes say why it is not imported, or what one should know of it.
	Notes []string
	// Origin is what the note of a version says that comes from this job or workflow.
	Origin string
	// Job is what was made of it, if it was imported. It is valid.
	Job job.Job
}

// note adds a note.
func (e *Entry) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// leave has the entry make no job.
func (e *Entry) leave(outcome Outcome, format string, args ...any) {
	e.Outcome, e.Job, e.Notes = outcome, job.Job{}, nil
	e.note(format, args...)
}

// Options says how to read a file.
type Options struct {
	// Group is the executor group that the application becomes.
	Group string
	// Zone is the time zone of PowerJob's servers, by which its cron expressions go. Defaults to UTC.
	Zone string
}

// originPrefix begins what the notes of imported versions say.
const originPrefix = "PowerJob "

// MadeBy reports whether the note of a version is that of an imported job or workflow.
func MadeBy(note string) bool {
	return strings.HasPrefix(note, originPrefix+"job ") || strings.HasPrefix(note, originPrefix+"workflow ")
}

// importer is what one entry has to know of the others.
type importer struct {
	options   Options
	names     map[job.Name]bool   // that are taken
	jobs      map[number]job.Name // by their ids
	titled    map[string]job.Name // jobs by their names in PowerJob
	workflows map[number]job.Name // by their ids
}

// Import reads a file. It returns its jobs and then its workflows, each in the order of their ids, and for each what
// became of it. The error is an *InvalidError: the options or the whole file are wrong.
func Import(data []byte, o Options) ([]Entry, error) {
	if _, err := cron.LoadZone(o.Zone); err != nil {
		return nil, &job.InvalidError{Field: "zone", Reason: refusal.NoTimeZone.With(o.Zone, "Asia/Shanghai")}
	}
	if err := job.CheckSlug("group", o.Group); err != nil {
		return nil, err
	}
	x, err := read(data)
	if err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	im := &importer{options: o, names: map[job.Name]bool{}, jobs: map[number]job.Name{}, titled: map[string]job.Name{}, workflows: map[number]job.Name{}}
	entries := make([]Entry, 0, len(x.jobs)+len(x.workflows))
	for i := range x.jobs {
		j := &x.jobs[i]
		name := im.nameFor(j.JobName, "job", j.ID)
		im.jobs[j.ID], im.titled[j.JobName] = name, name
		entries = append(entries, im.job(j, name))
	}
	for i := range x.workflows {
		w := &x.workflows[i]
		im.workflows[w.ID] = im.nameFor(w.WfName, "workflow", w.ID)
	}
	for i := range x.workflows {
		entries = append(entries, im.workflow(&x.workflows[i]))
	}
	refuseCycles(entries)
	wake(entries)
	return entries, nil
}

// check refuses a file of several applications, or one that has something twice, and sorts it.
func (x *export) check() error {
	var apps []number
	seen := map[string]bool{}
	look := func(what string, a *about) error {
		id := fmt.Sprintf("%s %d", what, a.ID)
		if seen[id] && a.ID != 0 {
			return wrong("has %s twice", id)
		}
		seen[id] = true
		if !slices.Contains(apps, a.AppID) && a.AppID != 0 {
			apps = append(apps, a.AppID)
		}
		if len(apps) > 1 {
			return wrong("is of several applications, appId %d and %d: import each from a file of its own, into a group of its own", apps[0], apps[1])
		}
		return nil
	}
	for i := range x.jobs {
		if err := look("job", &x.jobs[i].about); err != nil {
			return err
		}
	}
	for i := range x.workflows {
		if err := look("workflow", &x.workflows[i].about); err != nil {
			return err
		}
	}
	slices.SortStableFunc(x.jobs, func(a, b jobInfo) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(x.workflows, func(a, b workflowInfo) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// nameFor takes a name that no other has. Titles are in Chinese, most often, and make none.
func (im *importer) nameFor(title, what string, id number) job.Name {
	plain := foreign.Slug(title)
	if plain == "" || plain[0] < 'a' {
		plain = fmt.Sprintf("%s-%d", what, id)
	}
	name := job.Name(im.options.Group + "/" + plain)
	for im.names[name] {
		name += job.Name(fmt.Sprintf("-%d", id))
	}
	im.names[name] = true
	return name
}

// refuseCycles leaves out workflows that lead back to themselves by their calls.
func refuseCycles(entries []Entry) {
	byName := map[job.Name]*job.Job{}
	for i := range entries {
		byName[entries[i].Job.Job] = &entries[i].Job
	}
	followers := func(name job.Name) []job.Name {
		if j := byName[name]; j != nil {
			return j.Followers()
		}
		return nil
	}
	cycles := make([]error, len(entries))
	for i := range entries {
		cycles[i] = entries[i].Job.RefuseCycle(followers)
	}
	for i, err := range cycles {
		if err != nil {
			entries[i].leave(Broken, "%v", err)
		}
	}
}

// wake takes the schedules from jobs that workflows call and that are disabled: PowerJob runs those for a workflow, and a
// paused job cannot be called.
func wake(entries []Entry) {
	called := map[job.Name]bool{}
	for i := range entries {
		for _, name := range entries[i].Job.Followers() {
			called[name] = true
		}
	}
	for i := range entries {
		e := &entries[i]
		if !called[e.Job.Job] || !e.Job.Paused {
			continue
		}
		e.note("was disabled, and is called by a workflow: its schedule %s was left out, since a paused job cannot be called", cmp.Or(e.Job.Schedule.Cron, string(e.Job.Schedule.Kind())))
		e.Job.Schedule, e.Job.Misfire, e.Job.Paused = job.Schedule{}, job.Misfire{}, false
	}
}
