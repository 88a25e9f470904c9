package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Save saves a job as a document describes it, or with dry tells what saving it would change. edit
// says on what condition. A document that says nothing about a pause leaves it as it is, and so does
// one that says of a paused job that it is paused.
// planned names calendars that will be saved before the job.
func (c *Catalog) Save(ctx context.Context, document *job.Document, edit cluster.Edit, dry bool, planned ...string) (api.PutJobResult, error) {
	result := api.PutJobResult{Changes: []api.FieldChange{}, DryRun: dry}
	wish, err := canonical(document.Job)
	if err != nil {
		return result, err
	}
	if err := checkConditions(&wish); err != nil {
		return result, err
	}
	was, err := c.conn.Jobs().Get(ctx, wish.Job)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return result, err
	}
	edit.KeepPause = document.KeepPause
	if was != nil && (edit.KeepPause || wish.Paused && was.PausedAt(edit.At)) {
		wish.Paused, wish.PausedUntil = was.Paused, was.PausedUntil
		if edit.Note == "" && was.Paused {
			edit.Note = whyGaveUp(was)
		}
	}
	if wish, err = mayPut(ctx, was, wish, &edit); err != nil {
		return result, err
	}
	if err := c.checkCalendars(ctx, &wish.Schedule, planned); err != nil {
		return result, err
	}
	if result.Warnings, err = c.view.CheckJob(ctx, &wish); err != nil {
		return result, err
	}
	if was == nil || !reflect.DeepEqual(was.Schedule, wish.Schedule) {
		pitfalls, err := c.pitfalls(ctx, &wish, edit.At, planned)
		if err != nil {
			return result, err
		}
		result.Warnings = append(result.Warnings, pitfalls...)
	}
	if err := c.checkFollowers(ctx, was, wish); err != nil {
		return result, err
	}
	family, err := c.checkFamily(ctx, &wish)
	if err != nil {
		return result, err
	}
	result.Warnings = append(result.Warnings, family...)
	if was != nil {
		if result.Changes, err = auditlog.Diff(was.Job, wish); err != nil {
			return result, err
		}
		if len(result.Changes) == 0 { // the order of the fields of params says nothing
			wish = was.Job
		}
	}
	if was == nil || len(result.Changes) > 0 {
		if err := c.checkLimits(was, wish); err != nil {
			return result, err
		}
	}
	if dry {
		return dryRun(was, wish, edit, result)
	}
	entry, changed, err := c.conn.Jobs().Put(ctx, wish, edit)
	if err != nil {
		return result, problem.Conditional(edit, err)
	}
	var before any
	if was != nil {
		before = was.Job
	}
	if err := auditlog.Describe(ctx, changed, edit.Note, before, entry.Job); err != nil {
		return result, err
	}
	if err := c.index.wrote(entry); err != nil {
		return result, err
	}
	result.Definition, result.Revision = entry.Version, entry.Revision
	switch {
	case !changed:
		result.Result = api.PutJobResultResultUnchanged
	case was == nil:
		result.Result = api.PutJobResultResultCreated
	default:
		result.Result = api.PutJobResultResultChanged
	}
	return result, nil
}

// whyGaveUp returns why a job has paused itself, which is the note of its version; "" if it has not.
func whyGaveUp(e *bus.JobEntry) string {
	if e.Paused && reason.Read(e.Note).Code == reason.FailuresInARow.Code {
		return e.Note
	}
	return ""
}

// mayPut returns wish with what is stored where it has what the caller may not see.
// Then the edit is to replace exactly that version.
func mayPut(ctx context.Context, was *bus.JobEntry, wish job.Job, edit *cluster.Edit) (job.Job, error) {
	theirs := access.Who(ctx).Access
	if was == nil {
		return access.Restored(theirs, nil, wish)
	}
	whole, err := access.Restored(theirs, &was.Job, wish)
	if err == nil && edit.IfRevision == 0 && !edit.IfAbsent && !reflect.DeepEqual(whole, wish) {
		edit.IfRevision = was.Revision
	}
	return whole, err
}

// dryRun tells what saving wish in the place of was, which may be nil, would change.
func dryRun(was *bus.JobEntry, wish job.Job, e cluster.Edit, result api.PutJobResult) (api.PutJobResult, error) {
	var revision uint64
	if was != nil {
		revision = was.Revision
	}
	if err := e.Check("job "+string(wish.Job), was != nil, revision); err != nil {
		return result, problem.Conditional(e, err)
	}
	if was == nil {
		result.Result = api.PutJobResultResultCreated
		result.Definition = job.Version{Job: wish, Version: 1, EffectiveFrom: e.At.UTC().Truncate(time.Millisecond), Author: e.Author, Note: e.Note}
		return result, nil
	}
	result.Result, result.Definition, result.Revision = api.PutJobResultResultUnchanged, was.Version, was.Revision
	if len(result.Changes) > 0 {
		result.Result = api.PutJobResultResultChanged
		result.Definition.Job = wish
		result.Definition.Version++
		result.Definition.EffectiveFrom = e.At.UTC().Truncate(time.Millisecond)
		result.Definition.Author, result.Definition.Note = e.Author, e.Note
	}
	return result, nil
}

// Delete deletes a job, on the condition that edit states.
func (c *Catalog) Delete(ctx context.Context, name job.Name, edit cluster.Edit) error {
	_, err := c.edit(ctx, name, edit, func(v *job.Version) { v.Deleted = true })
	return err
}

// edit changes a job's present version, and has the index know before it returns.
func (c *Catalog) edit(ctx context.Context, name job.Name, edit cluster.Edit, change func(*job.Version)) (*bus.JobEntry, error) {
	entry, err := c.conn.Jobs().Edit(ctx, name, edit, change)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return entry, c.index.wrote(entry)
}

// EditAbout gives a job another owner or other tags, or with dryRun says whether it would.
func (c *Catalog) EditAbout(ctx context.Context, name job.Name, b *api.JobBulk, dryRun bool) (changed bool, err error) {
	edit := func(j *job.Job) error {
		if b.Owner != nil {
			j.Owner = *b.Owner
		}
		tags := slices.DeleteFunc(slices.Clone(j.Tags), func(tag string) bool { return slices.Contains(b.RemoveTags, tag) })
		for _, tag := range b.AddTags {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		if j.Tags = tags; len(tags) == 0 {
			j.Tags = nil
		}
		return j.Validate()
	}
	was, err := c.conn.Jobs().Get(ctx, name)
	if err != nil {
		return false, err
	}
	wish := was.Job
	if err := edit(&wish); err != nil {
		return false, err
	}
	if changed = !reflect.DeepEqual(was.Job, wish); dryRun || !changed {
		return changed, nil
	}
	var before, after any
	_, err = c.edit(ctx, name, cluster.Edit{At: time.Now(), Author: access.Author(ctx), Note: b.Note}, func(v *job.Version) {
		before, wish = v.Job, v.Job
		if edit(&wish) == nil { // somebody else's edit may have left no room for more tags
			v.Job = wish
		}
		after = v.Job
	})
	if err != nil {
		return false, err
	}
	return true, auditlog.Describe(ctx, true, b.Note, before, after)
}

// canonical returns j as reading it back from the bucket would: without the white
// space of params, and with nothing for what is empty. Only so an equal document is
// known to be equal.
func canonical(j job.Job) (job.Job, error) {
	data, err := json.Marshal(j.WithDefaults())
	if err != nil {
		return j, fmt.Errorf("encode job %s: %w", j.Job, err)
	}
	return job.Decode(data)
}
