// Package why answers in a sentence why a job ran or did not run in one minute.
//
// [Facts.Answer] is a pure function. The outcome of a fire and its reason are those of the ledger, what
// is ahead is the forecast of the scheduler's own timetable, and why there is no fire is the word of the schedule
// itself. This package chooses between them, adds who paused a job and which rule of a calendar
// matched, and names what helps.
package why
