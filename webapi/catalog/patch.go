package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Bounds of a patch; the contract states the first.
const (
	maxPatch      = 64 << 10 // bytes of JSON
	maxPatchDepth = 64
)

// Patch is a JSON merge patch (RFC 7396) for documents of jobs.
type Patch struct {
	fields map[string]any
	// keepPause reports that it says nothing about a pause.
	keepPause bool
}

// DecodePatch reads a patch. The error is a *job.InvalidError that names the field, such as patch.timeout.
func DecodePatch(data json.RawMessage) (*Patch, error) {
	if len(data) > maxPatch {
		return nil, job.Invalid("patch", "has %d bytes; at most %d are allowed", len(data), maxPatch)
	}
	p := &Patch{}
	if err := exact.Unmarshal(data, &p.fields); err != nil || len(p.fields) == 0 {
		return nil, job.Invalid("patch", "must be an object with fields of a job, such as timeout")
	}
	if _, ok := p.fields["job"]; ok {
		return nil, job.Invalid("patch.job", "cannot be changed: group and name are what a job is known by; save it under the new name, and delete this one")
	}
	if err := job.CheckFields(data, &job.Job{}); err != nil {
		if bad, ok := errors.AsType[*job.InvalidError](err); ok {
			return nil, &job.InvalidError{Field: "patch." + bad.Field, Reason: bad.Reason}
		}
		return nil, err
	}
	if depthOf(p.fields) > maxPatchDepth {
		return nil, job.Invalid("patch", "is nested too deep; at most %d levels are allowed", maxPatchDepth)
	}
	_, paused := p.fields["paused"]
	_, until := p.fields["paused_until"]
	p.keepPause = !paused && !until
	return p, nil
}

// depthOf returns how many objects are inside of each other in a value.
func depthOf(value any) int {
	deepest := 0
	if object, ok := value.(map[string]any); ok {
		for _, field := range object {
			deepest = max(deepest, depthOf(field)+1)
		}
	}
	return deepest
}

// apply returns the document that the patch makes of j.
func (p *Patch) apply(j *job.Job) (*job.Document, error) {
	data, err := json.Marshal(j)
	if err == nil {
		data, err = merge(data, p.fields)
	}
	if err != nil {
		return nil, fmt.Errorf("patch job %s: %w", j.Job, err)
	}
	patched, err := job.Decode(data)
	return &job.Document{Job: patched, KeepPause: p.keepPause}, err
}

// merge returns what a patch makes of a JSON value. What the patch does not name stays as it is written.
func merge(target json.RawMessage, patch any) (json.RawMessage, error) {
	fields, ok := patch.(map[string]any)
	if !ok {
		return json.Marshal(patch)
	}
	whole := map[string]json.RawMessage{}
	if json.Unmarshal(target, &whole) != nil || whole == nil {
		whole = map[string]json.RawMessage{} // a value that is no object gives way
	}
	for name, value := range fields {
		if value == nil {
			delete(whole, name)
			continue
		}
		merged, err := merge(whole[name], value)
		if err != nil {
			return nil, err
		}
		whole[name] = merged
	}
	return json.Marshal(whole)
}

// Save applies the patch to a job as the caller sees it, and saves the result. With dry it only returns what
// would change. The job must have the given version; 0 is any. Errors are those of [Catalog.Save], and
// job.ErrConflict if it has another one.
func (p *Patch) Save(ctx context.Context, c *Catalog, name job.Name, version int, edit cluster.Edit, dry bool) (api.PutJobResult, error) {
	was, err := c.conn.Jobs().Get(ctx, name)
	if err == nil && version != 0 {
		err = checkVersion(was, version)
	}
	if err != nil {
		return api.PutJobResult{}, err
	}
	seen := access.HiddenJob(access.Who(ctx).Access, was.Job)
	document, err := p.apply(&seen)
	if err != nil {
		return api.PutJobResult{}, err
	}
	edit.IfRevision = was.Revision
	return c.Save(ctx, document, edit, dry)
}

// Revert saves an older version of a job, to, as its newest, with the pause. With dry it only returns what
// would change. The newest version must be the given one. Errors are those of [Patch.Save], problem.ErrForbidden
// if the versions differ in what the caller may not see, and job.ErrNotFound if version to is not kept.
func Revert(ctx context.Context, c *Catalog, name job.Name, version, to int, edit cluster.Edit, dry bool) (api.PutJobResult, error) {
	kept, err := c.conn.Jobs().Versions(ctx, name)
	if err != nil {
		return api.PutJobResult{}, err
	}
	was := kept[len(kept)-1]
	if was.Deleted {
		return api.PutJobResult{}, fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	}
	if err := checkVersion(was, version); err != nil {
		return api.PutJobResult{}, err
	}
	at, err := versionAmong(kept, name, to)
	if err != nil {
		return api.PutJobResult{}, err
	}
	theirs := access.Who(ctx).Access
	wish := access.HiddenJob(theirs, kept[at].Job)
	if whole, err := access.Restored(theirs, &was.Job, wish); err != nil || !reflect.DeepEqual(whole, kept[at].Job) {
		return api.PutJobResult{}, problem.Explain(problem.ErrForbidden, refusal.UndoHidden.With(name))
	}
	edit.IfRevision = was.Revision
	return c.Save(ctx, &job.Document{Job: wish}, edit, dry)
}

// checkVersion returns job.ErrConflict, with who saved another version, unless a job has the given one.
func checkVersion(e *bus.JobEntry, version int) error {
	if e.Version.Version == version {
		return nil
	}
	return fmt.Errorf("%w: %s", job.ErrConflict, refusal.VersionMovedOn.With(e.Job.Job, e.Version.Version, cmp.Or(e.Author, cluster.AuthorSelf)))
}
