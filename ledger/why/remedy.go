package why

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
)

// ofReason is what helps against a reason that will hold for further fires, too, or still holds back a run.
var ofReason = map[string]outcome.Remedy{
	reason.JobPaused.Code:             outcome.ResumeJob,
	reason.JobPausedUntil.Code:        outcome.ResumeJob,
	reason.JobPausedByThen.Code:       outcome.ResumeJob,
	reason.GroupPaused.Code:           outcome.ResumeGroup,
	reason.GroupPausedUntil.Code:      outcome.ResumeGroup,
	reason.GroupPausedByThen.Code:     outcome.ResumeGroup,
	reason.EverythingPaused.Code:      outcome.ResumeAll,
	reason.EverythingPausedUntil.Code: outcome.ResumeAll,
	reason.PausedByThen.Code:          outcome.ResumeAll,
	reason.FireSkipped.Code:           outcome.TakeBackSkip,
	reason.FireSkippedNote.Code:       outcome.TakeBackSkip,
	reason.CalendarExcludes.Code:      outcome.EditCalendar,
	reason.CalendarOmits.Code:         outcome.EditCalendar,
	reason.CalendarsOmit.Code:         outcome.EditSchedule,
	reason.MisfireSkip.Code:           outcome.EditSchedule,
	reason.LatestStoodForAll.Code:     outcome.EditSchedule,
	reason.BeyondFireAll.Code:         outcome.EditSchedule,
	reason.NoticedTooLate.Code:        outcome.OpenServers,
	reason.NoticedLate.Code:           outcome.OpenServers,
	reason.DecidedLate.Code:           outcome.OpenServers,
	reason.ClockAhead.Code:            outcome.OpenServers,
	reason.ClockBack.Code:             outcome.OpenServers,
	reason.ClockAheadOfNATS.Code:      outcome.OpenServers,
	reason.ClockBehindNATS.Code:       outcome.OpenServers,
	reason.ClockOutOfLine.Code:        outcome.OpenServers,
	reason.PositionAhead.Code:         outcome.OpenServers,
	reason.PositionWasAhead.Code:      outcome.OpenServers,
	finding.ShardNotThere.Code:        outcome.OpenServers,
	finding.VersionNotHeard.Code:      outcome.OpenServers,
	finding.NotInHistoryYet.Code:      outcome.OpenServers,
	reason.OverlapFull.Code:           outcome.EarlierRuns,
	reason.WaitsForKey.Code:           outcome.EarlierRuns,
	reason.WaitsForTotal.Code:         outcome.EarlierRuns,
	reason.WaitsForRuns.Code:          outcome.EarlierRuns,
	reason.WaitsToReplace.Code:        outcome.EarlierRuns,
	reason.QueueFull.Code:             outcome.EarlierRuns,
	reason.Displaced.Code:             outcome.EarlierRuns,
	reason.QueuedTooLong.Code:         outcome.EarlierRuns,
	reason.TooManyWait.Code:           outcome.StartExecutor,
	reason.NobodyBegan.Code:           outcome.StartExecutor,
	reason.NobodyOnline.Code:          outcome.StartExecutor,
	reason.NobodyFreeBy.Code:          outcome.StartExecutor,
	reason.NotBegunBy.Code:            outcome.StartExecutor,
	reason.WaitedForInstance.Code:     outcome.StartExecutor,
	reason.WaitsForOnline.Code:        outcome.StartExecutor,
	reason.WaitsForLabels.Code:        outcome.StartExecutor,
	reason.NobodyTakesWork.Code:       outcome.StartExecutor,
	reason.NobodyTakesWorkWith.Code:   outcome.StartExecutor,
	reason.NobodyRunsKind.Code:        outcome.StartExecutor,
	reason.NobodyRunsKindWith.Code:    outcome.StartExecutor,
	reason.NobodyHasHandler.Code:      outcome.StartExecutor,
	reason.NobodyHasHandlerWith.Code:  outcome.StartExecutor,
	reason.NobodyFree.Code:            outcome.StartExecutor,
	reason.NobodyFreeWith.Code:        outcome.StartExecutor,
	reason.GroupEmpty.Code:            outcome.StartExecutor,
	reason.AllSlotsBusy.Code:          outcome.StartExecutor,
	reason.InstanceLost.Code:          outcome.StartExecutor,
	reason.WaitsForLimit.Code:         outcome.StartExecutor,
	reason.WaitsForRate.Code:          outcome.StartExecutor,
	reason.WaitsForLimits.Code:        outcome.StartExecutor,
}

// remedies returns what helps after an answer, the most useful first.
func (f *Facts) remedies(a *outcome.Answer) []outcome.Remedy {
	found := []outcome.Remedy{}
	add := func(remedies ...outcome.Remedy) {
		for _, r := range remedies {
			if f.makesSense(a, r) && !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	said := reason.Read(string(a.Reason))
	for s := &said; s != nil; s = s.And {
		if r, ok := ofReason[s.Code]; ok {
			add(r)
		}
	}
	switch a.Verdict {
	case outcome.DidRun, outcome.DoesRun, outcome.Waits:
		add(outcome.OpenRun)
	case outcome.WasSkipped, outcome.WasMissed:
		add(outcome.RunFire, outcome.OpenLedger)
	case outcome.WillSkip, outcome.WillRun:
		add(outcome.EditSchedule, outcome.RunNow)
	case outcome.NoFire:
		add(outcome.EditSchedule, outcome.RunNow)
	case outcome.Contradicted, outcome.Unknown:
		add(outcome.OpenLedger)
	case outcome.NoJob:
		add(outcome.RunNow, outcome.OpenLedger)
	}
	return found
}

// makesSense reports whether a remedy would change something now.
func (f *Facts) makesSense(a *outcome.Answer, r outcome.Remedy) bool {
	newest := f.Versions[len(f.Versions)-1]
	switch r {
	case outcome.ResumeJob:
		return !newest.Deleted && newest.PausedAt(f.Now)
	case outcome.ResumeGroup:
		return f.Group.At(f.Now).Paused
	case outcome.ResumeAll:
		return f.Everything.At(f.Now).Paused
	case outcome.TakeBackSkip:
		return a.Verdict == outcome.WillSkip
	case outcome.RunFire, outcome.RunNow, outcome.EditSchedule:
		return !newest.Deleted
	case outcome.EditCalendar, outcome.StartExecutor, outcome.EarlierRuns, outcome.OpenRun, outcome.OpenServers, outcome.OpenLedger:
	}
	return true
}
