package shard

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/ring"
)

// What a machine knows, beside its jobs and its position.

// lateVersions are versions heard of after the position had passed their beginning, and those that
// cannot be read. See late.go and unread.go.
type lateVersions struct {
	versions []lateVersion         // in the order of their revisions
	unread   map[uint64]*unread    // by revision, versions that no owner could read yet
	partly   map[versionName]int64 // up to which a predecessor has decided late versions
	begins   map[versionName]int64 // versions whose fires begin later than they say
	moved    map[job.Name]int64    // jobs whose last fire was moved to another day, with its fire time
	since    int64                 // moved has all with a fire time after this instant
}

// delays are the jobs with a fixed delay. See delay.go.
type delays struct {
	byJob     map[uint32]*delay // by id
	unsettled []uint32          // ids of delays that owe the stream an item
}

// children are what is known of the ends of parents' runs. See child.go.
type children struct {
	arrived []*arrival // without effect yet
	kept    []*arrival // for children that are held, see unread.go
}

// cancels are the wishes to end runs. See cancel.go and condemn.go.
type cancels struct {
	wishes    []*cancel
	condemned []*condemned
}

// backfills run fires of the past. See backfill.go.
type backfills struct {
	byJob map[uint32][]*backfill // by id of the job, oldest first
	going []uint32               // ids of jobs whose backfills may go on
	asked []askedBackfill
}

// requests are what people and programs ask the owner for. See asked.go and command.go.
type requests struct {
	commands []Command
	asked    map[job.RunID]bool // not committed yet
	recent   recentRuns
}

// scratch is space that Step uses again.
type scratch struct {
	due      []ring.Entry
	verdicts []verdict
	fires    []job.Fire
}
