package catalog

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// Compare returns what changed from one version of a job to another. Zero is the newest
// one, and the one before.
func (c *Catalog) Compare(ctx context.Context, name job.Name, fromVersion, toVersion int) (result api.JobDiff, err error) {
	result.Job = name
	kept, err := c.conn.Jobs().Versions(ctx, name)
	if err != nil {
		return result, err
	}
	to, err := versionAmong(kept, name, cmp.Or(toVersion, kept[len(kept)-1].Version.Version))
	if err != nil {
		return result, err
	}
	result.To = kept[to].Version.Version
	var before any // nothing, of the first version that is kept
	from := to - 1
	if fromVersion != 0 {
		if from, err = versionAmong(kept, name, fromVersion); err != nil {
			return result, err
		}
	}
	if from >= 0 {
		result.From, before = kept[from].Version.Version, contentOf(kept[from])
	}
	result.Changes, err = auditlog.Diff(before, contentOf(kept[to]))
	return result, err
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
		if e.Version.Version == version {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.VersionNotKept.With(version, name))
}
