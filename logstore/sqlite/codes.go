package sqlite

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// The numbers of statuses in the file. They rise in the order of a run's life, so
// that merging two is max; those from firstFinal on are final, and succeeded is
// known to an index.
const firstFinal = 10

var statusCodes = map[job.Status]int64{
	job.StatusQueued: 1, job.StatusPending: 2, job.StatusRunning: 3,
	job.StatusSucceeded: firstFinal, job.StatusFailed: 11, job.StatusTimedOut: 12, job.StatusCancelled: 13,
	job.StatusLost: 14, job.StatusSkipped: 15, job.StatusMissed: 16,
}

var causeCodes = map[job.Cause]int64{
	job.CauseSchedule: 1, job.CauseMisfire: 2, job.CauseBackfill: 3, job.CauseManual: 4,
	job.CauseAPI: 5, job.CauseParent: 6, job.CauseRerun: 7, job.CausePing: 8, job.CauseTest: 9, job.CauseStep: 10, // from 9 on, none is counted
}

var kindCodes = map[runlog.Kind]int64{
	runlog.KindRecorded: 1, runlog.KindStarted: 2, runlog.KindProgress: 3, runlog.KindFinished: 4, runlog.KindLate: 5,
	runlog.KindHeld: 6, runlog.KindMarked: 7, runlog.KindOnHold: 8, runlog.KindResumed: 9,
}

// A change that somebody made has who in the column instance, and one for a mark has that in delivery.
var markCodes = map[job.Mark]int64{job.MarkHandled: 1, job.MarkSucceeded: 2, job.MarkNone: 3}

var (
	statusOf = inverse(statusCodes)
	causeOf  = inverse(causeCodes)
	kindOf   = inverse(kindCodes)
	markOf   = inverse(markCodes)
)

func inverse[K comparable](codes map[K]int64) map[int64]K {
	words := make(map[int64]K, len(codes))
	for word, code := range codes {
		words[code] = word
	}
	return words
}
