package cluster

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// kindServer has the lease of each server, whatever its roles, at its name.
var kindServer = jet.Kind[jet.LeaseRecord]{
	Bucket: bus.BucketLease, Prefix: "server.",
	Name: func(node string) string { return "the lease of server " + node },
}

// serverInfo is what a server says of itself in its lease.
type serverInfo struct {
	// Format is the newest format of job versions that it reads.
	Format int `json:"format"`
}

// Announce keeps the lease of a server, which says which versions of jobs it reads, until ctx is done.
func (ns Nodes) Announce(ctx context.Context, node string, log *slog.Logger) {
	jet.Announce(ctx, ns.conn.first, kindServer.Prefix+node, node, serverInfo{job.VersionFormat}, log)
}

// UpgradeError says that a job was not saved because a live server cannot read it. It is a job.ErrConflict.
type UpgradeError struct{ reason string }

func (e *UpgradeError) Error() string { return e.reason }

// Unwrap returns job.ErrConflict.
func (e *UpgradeError) Unwrap() error { return job.ErrConflict }

// checkFormat returns an *UpgradeError unless all live servers read versions of a format.
func (ns Nodes) checkFormat(ctx context.Context, name job.Name, format int) error {
	leases, err := newest(ctx, ns.conn, &kindServer)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(leases)) {
		var info serverInfo
		l := leases[key]
		if err := json.Unmarshal(l.Info, &info); err != nil || info.Format < format {
			return &UpgradeError{refusal.UpgradeFirst.With(name, format, l.Node)}
		}
	}
	return nil
}
