package logstoretest

import (
	"testing"

	"github.com/carillon-scheduler/carillon/logstore"
)

// Run shows that the stores that open returns keep the contract of
// [logstore.Store]. open returns an empty store and closes it when its test ends. The tests are
// parallel: open may wait until another test has ended.
func Run(t *testing.T, open func(t *testing.T) logstore.Store) {
	each(t, open, []test{
		{"a run goes from its record to its end", runGoesFromRecordToEnd},
		{"records and events may come in any order", anyOrder},
		{"repeats change nothing", repeatsChangeNothing},
		{"one write may hold a whole run", wholeRunInOneWrite},
		{"the first end stays and another is kept as late", firstEndStays},
		{"a repeat of the end is not late", repeatedEndIsNotLate},
		{"a redelivered attempt shows its new instance", redelivery},
		{"a run shows when the trigger came to its instance", deliveries},
		{"an end that the owner reports keeps the instance", ownerReportsEnd},
		{"an end keeps its instance whoever starts later", endKeepsItsInstance},
		{"several fires with one outcome are one run", severalFires},
		{"a queued run is committed when it is released", queuedRun},
		{"a held run says why, and a routed one why there", routedRun},
		{"nothing of an attempt waits after its end", diedRun},
		{"progress shows the newest and is thinned", progress},
		{"attempts are listed newest first", attempts},
		{"an end has all that the executor said", endDetails},
		{"an update that is not valid is refused with its batch", invalidUpdates},
		{"an unknown run is not found", unknownRun},
		{"no update changes whose a run is", foreignUpdates},

		{"pages hold each run once at any depth", pagesAtDepth},
		{"pages hold where many runs fire at one instant", pagesOfAnInstant},
		{"pages hold while runs are written", pagesWhileWriting},
		{"filters select and combine", filters},
		{"lists are sorted by what is asked, with what has no value last", sortedLists},
		{"counts count fires", counts},
		{"facets count what there is to choose from", facets},
		{"a histogram counts in equal parts", histogram},
		{"last runs are per job", lastRuns},
		{"standings are those of the newest runs, whenever they were read before", standings},
		{"waiting runs are counted by group, with the oldest", waitingRuns},
		{"usage says how many of a group's runs waited and ran at a time", usage},
		{"usage has a run in pieces wait once and take a slot for each", usageInPieces},
		{"usage is that of a slow and obvious function", usageLikeTheModel},
		{"reports say what the runs say, whatever is repeated or late", reports},
		{"no percentile of durations is above the longest", percentilesWithinMax},
		{"delays in reports are those of what a schedule asked for", delaysOfSchedules},
		{"runs in a queue were decided when they were queued", delaysOfQueues},
		{"success in reports is that of what a schedule asked for", successOfSchedules},
		{"tests of drafts are in lists and not in reports", leavesTestsOut},
		{"steps are found by the run of their workflow", stepsOfWorkflow},
		{"a run of a workflow is one in reports, however many steps it has", countsWorkflowsOnce},
		{"a step ends as the scheduler says", failedStep},
		{"the steps of many workflows are told by the newest attempt of each", stepsOfMany},
		{"what a step waits for is kept, with the approvals", waitingStep},
		{"steps that wait are found by the kind of what they wait for", openWaits},
		{"the last hold of a run is kept", holds},
		{"a timeline tells who put a run on hold and resumed it", holdChanges},
		{"groups share a limit on steps that wait", openWaitsOfGroups},
		{"reports are by what is asked, and in order", reportOrders},
		{"reports have the days of any zone", reportDays},
		{"failures are grouped by what their messages have in common", failures},
		{"a filter that is not valid is refused", invalidFilters},

		{"lines are read in ranges and tails", lines},
		{"the last line of each attempt is known", lastLines},
		{"lines that arrive twice are kept once", linesTwice},
		{"lines that another job wrote under a run's id are not the run's", linesOfOthers},
		{"lines arrive in any cut and order", linesInAnyCut},
		{"lines are selected by level", linesByLevel},
		{"lines keep any text", lineTexts},
		{"lines are found by words and phrases", searchWords},
		{"lines are found by what their runs are", searchFilters},
		{"pages of a search hold each line once", searchPages},
		{"a search finds what its words match and nothing else", searchLikeTheModel},
		{"a search may ask for many words", searchManyWords},
		{"hits are counted over time", hitsOverTime},
		{"hits are counted as they are found", hitsLikeTheSearch},
		{"counting hits ends in time and says since when it counted", hitsInTime},
		{"lines of faulty and of newer executors are kept", linesOfAllKinds},
		{"lines that are not valid are refused with their batch", invalidLines},

		{"trim deletes runs that are older and nothing else", trimRuns},
		{"runs are kept as their own rule says", trimRunsByRule},
		{"what came late is kept from then on", keepBackfilled},
		{"lines go by days, as their own rule says", trimLines},
		{"a retention that changes holds for what is there", changeRetention},
		{"a preview tells what a trim does", previewTrim},
		{"stats tell the oldest run", stats},
		{"writers and readers work side by side", sideBySide},

		{"facts come in pages, the newest first", factsPaged},
		{"of a fact the newest version is kept", factsReplaced},
		{"facts are found by what they say", factsFiltered},
		{"facts that are not valid are refused with their batch", factsInvalid},
		{"facts are kept as long as their kind is", factsTrimmed},

		{"a run that is tried again goes on", triedAgain},
		{"lists tell when a run began, whatever its newest attempt", beganWithTheFirstAttempt},
		{"pages hold each run once, whatever its attempts", pagesOfRuns},
		{"attempts may come in any order", attemptsInAnyOrder},
		{"a record may say that there is no further attempt", noFurtherAttempt},
		{"the end in a record counts before that of an event", recordCountsFirst},
		{"a run may end in the queue", endsInTheQueue},
		{"a run may be queued first", queuedFirst},
		{"an executor may say that a run was missed", missedByItsExecutor},
		{"children are found by their parent", parents},
		{"a mark is on the timeline and changes nothing else", marks},
		{"a run that pings report shows the host, and a late end beside its miss", reportedRun},
		{"runs that pings reported are found, and take no slot of their group", reportedRuns},

		{"a run in pieces is one run", broadcast},
		{"a further attempt may have some of the pieces", piecesTriedAgain},
		{"pieces come in pages", manyPieces},
		{"a piece has a timeline of its own", pieceTimeline},
		{"a piece has a log of its own", pieceLines},
		{"trim deletes the pieces of a run", trimPieces},
	})
}

type test struct {
	name string
	run  func(*testing.T, logstore.Store)
}

func each(t *testing.T, open func(t *testing.T) logstore.Store, tests []test) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}
