package webapi

import (
	"context"
	"fmt"

	"carillon/bus"
	"carillon/job"
)

// DiffJob answers GET /jobs/{group}/{name}/diff.
func (h *handlers) DiffJob(ctx context.Context, r DiffJobRequestObject) (DiffJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	kept, err := h.conn.JobVersions(ctx, name)
	if err != nil {
		return nil, err
	}
	to, err := versionAmong(kept, name, orDefault(r.Params.To, kept[len(kept)-1].Version.Version))
	if err != nil {
		return nil, err
	}
	result := JobDiff{Job: name, To: kept[to].Version.Version}
	var before any // nothing, of the first version that is kept
	from := to - 1
	if r.Params.From != 0 {
		if from, err = versionAmong(kept, name, r.Params.From); err != nil {
			return nil, err
		}
	}
	if from >= 0 {
		if _, err = versionAmong(kept, name, kept[from].Version.Version); err != nil {
			return nil, err
		}
		result.From, before = kept[from].Version.Version, contentOf(kept[from])
	}
	if result.Changes, err = diff(before, contentOf(kept[to])); err != nil {
		return nil, err
	}
	return DiffJob200JSONResponse(result), nil
}

// contentOf returns what a version says: nothing if it says that the job is deleted.
func contentOf(e *bus.JobEntry) any {
	if e.Deleted {
		return nil
	}
	return struct {
		job.Job
		Skips []job.Skip `json:"skips,omitempty"`
	}{e.Job, e.Skips}
}

// versionAmong returns which of the entries is a version.
func versionAmong(kept []*bus.JobEntry, name job.Name, version int) (int, error) {
	for i, e := range kept {
		if e.Version.Version == version && e.Unreadable != "" {
			return 0, fmt.Errorf("%w: version %d of job %s was saved by a newer server, and this one cannot read it", job.ErrConflict, version, name)
		}
		if e.Version.Version == version {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: version %d of job %s is not kept", job.ErrNotFound, version, name)
}
