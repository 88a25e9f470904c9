package database

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// FirstFinal is the number of the first status that is final: those from it on are.
const FirstFinal = 10

// Statuses, Causes and Kinds are the numbers of the words that are enums in the schema.
// Those of statuses rise in the order of a run's life.
var (
	Statuses = map[job.Status]int8{
		job.StatusQueued: 1, job.StatusPending: 2, job.StatusRunning: 3,
		job.StatusSucceeded: FirstFinal, job.StatusFailed: 11, job.StatusTimedOut: 12, job.StatusCancelled: 13,
		job.StatusLost: 14, job.StatusSkipped: 15, job.StatusMissed: 16,
	}

	Causes = map[job.Cause]int8{
		job.CauseSchedule: 1, job.CauseMisfire: 2, job.CauseBackfill: 3, job.CauseManual: 4,
		job.CauseAPI: 5, job.CauseParent: 6, job.CauseRerun: 7, job.CausePing: 8, job.CauseTest: 9, job.CauseStep: 10, // from test on, none is counted
	}

	Kinds = map[runlog.Kind]int8{
		runlog.KindRecorded: 1, runlog.KindStarted: 2, runlog.KindProgress: 3, runlog.KindFinished: 4, runlog.KindLate: 5,
		runlog.KindHeld: 6, runlog.KindMarked: 7, runlog.KindOnHold: 8, runlog.KindResumed: 9,
	}
)

// enum returns the members of an Enum8, in the order of their numbers.
func enum[W ~string](codes map[W]int8) string {
	words := slices.SortedFunc(maps.Keys(codes), func(a, b W) int { return cmp.Compare(codes[a], codes[b]) })
	members := make([]string, len(words))
	for i, w := range words {
		members[i] = fmt.Sprintf("'%s' = %d", w, codes[w])
	}
	return strings.Join(members, ", ")
}
