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
}

// scratch is space that Step uses again.
type scratch struct {
	due      []ring.Entry
	verdicts []verdict
	fires    []job.Fire
}
