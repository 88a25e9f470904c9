package xxljob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// MaxDump is the greatest size of a dump, in bytes.
const MaxDump = 64 << 20

// Outcome says what became of a job.
type Outcome string

// The outcomes.
const (
	Imported Outcome = "imported" // it is a job here too
	Skipped  Outcome = "skipped"  // XXL-JOB would run it, we cannot
	Broken   Outcome = "broken"   // it makes no job that could be saved
)

// Entry is a row of xxl_job_info, and what became of it; or a workflow that begins with its job.
type Entry struct {
	ID   int
	Line int // of the dump, from 1
	// Title is the job's description in XXL-JOB.
	Title   string
	Outcome Outcome
	// Note says why a job was skipped or is broken, or what one should know of it; it may
	// be empty.
	Note string
	// Origin is what the note of a version says that comes from this row. A job of the
	// same name whose newest version says something else has another origin, or was
	// edited since.
	Origin string
	// Unread are the columns whose values say nothing to us. The job has the default instead.
	Unread []string
	// Job is what was made of the row, if it was imported. It is valid.
	Job job.Job

	row row
}

// Options says how to read a dump.
type Options struct {
	// Group is the executor group of jobs of whose group the dump has no row. When it is
	// empty those are broken.
	Group string
	// Zone is the time zone of XXL-JOB's admin, by which its cron expressions go.
	// Defaults to UTC.
	Zone string
	// Workflows makes a workflow of each job that has a schedule and children. Otherwise these
	// are children here, too.
	Workflows bool
}

// Import reads a dump. It returns its jobs in the order of their numbers, for each what
// became of it, and right after a job the workflow that begins with it. The error is an *InvalidError: the options or the whole dump are wrong; or the
// cause of ctx, once that is done.
func Import(ctx context.Context, data []byte, o Options) ([]Entry, error) {
	if err := o.validate(data); err != nil {
		return nil, err
	}
	if err := checkWhole(data); err != nil {
		return nil, err
	}
	infos, groups, err := tables(ctx, data)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, instead(err, data)
	}
	for _, rows := range [][]row{infos, groups} {
		if err := checkText(rows); err != nil {
			return nil, err
		}
	}
	im := importer{options: o, groups: map[string]row{}, appNames: map[string][]string{}, names: map[job.Name]bool{}}
	for _, g := range groups {
		im.groups[g.get("id")] = g
		if name, group := g.get("app_name"), GroupOf(g.get("app_name")); !slices.Contains(im.appNames[group], name) {
			im.appNames[group] = append(im.appNames[group], name)
		}
	}
	entries := make([]Entry, len(infos))
	for i, r := range infos {
		id, err := strconv.Atoi(r.get("id"))
		if err != nil {
			return nil, wrong("line %d: a row of %s has the id %q; it must be a number", r.line, infoTable, r.get("id"))
		}
		entries[i] = entryOf(id, r)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		im.convert(&entries[i])
		settle(&entries[i])
	}
	looped := linkChildren(entries)
	if o.Workflows {
		entries = makeWorkflows(entries, im.names, looped)
	}
	return entries, nil
}

// Convert makes a job of an executor group of one row of xxl_job_info, as [Import] does, but for its
// children. zone is that of [Options].
func Convert(id int32, group, zone string, columns map[string]string) Entry {
	im := importer{options: Options{Group: group, Zone: zone}, names: map[job.Name]bool{}}
	e := entryOf(int(id), row{values: columns})
	im.convert(&e)
	settle(&e)
	return e
}

func entryOf(id int, r row) Entry {
	return Entry{ID: id, Line: r.line, Title: cmp.Or(r.get("job_desc"), r.get("name")), Origin: originPrefix + strconv.Itoa(id), row: r}
}

// originPrefix begins what the notes of imported versions say; the number follows.
const originPrefix = "XXL-JOB "

// MadeBy reports whether the note of a version is that of an imported job or workflow.
func MadeBy(note string) bool { return IDOf(strings.TrimSuffix(note, workflowOrigin)) != 0 }

// IDOf returns the number that a job had in XXL-JOB, by the note of a version that was imported; 0 if
// the note says something else.
func IDOf(note string) int32 {
	number, ok := strings.CutPrefix(note, originPrefix)
	id, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || id < 1 {
		return 0
	}
	return int32(id)
}

func (o Options) validate(data []byte) error {
	if len(data) > MaxDump {
		return wrong("has %d bytes; at most %d are read: dump only xxl_job_group and xxl_job_info", len(data), MaxDump)
	}
	if _, err := cron.LoadZone(o.Zone); err != nil {
		return &job.InvalidError{Field: "zone", Reason: refusal.NoTimeZone.With(o.Zone, "Asia/Shanghai")}
	}
	if o.Group == "" {
		return nil
	}
	return job.CheckSlug("group", o.Group)
}

func wrong(format string, args ...any) error {
	return &job.InvalidError{Field: "dump", Reason: fmt.Sprintf(format, args...)}
}

// settle checks a job that was made, and has the entry say what is wrong with it.
func settle(e *Entry) {
	if e.Outcome != Imported {
		e.Job = job.Job{}
		return
	}
	if problems := job.Problems(e.Job.Validate()); len(problems) > 0 {
		e.Outcome, e.Note, e.Job = Broken, problems[0].Error(), job.Job{}
	}
}
