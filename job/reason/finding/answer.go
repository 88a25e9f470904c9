package finding

import "github.com/carillon-scheduler/carillon/job/reason"

// What became of a fire about which somebody asks, beside AwaitedMissed. What the ledger says of it follows.
var (
	FireRan         = reason.Three{Sentence: define("fire_ran", "the fire of {fire_time:instant} ran on time as run {run_id:word}, which ended as {status:state}")}
	FireRanLate     = reason.Five{Sentence: define("fire_ran_late", "the fire of {fire_time:instant} started {late:duration} late, at {started:instant}, as run {run_id:word}, which ended as {status:state}")}
	FireRuns        = reason.Three{Sentence: define("fire_runs", "the fire of {fire_time:instant} runs since {started:instant} as run {run_id:word}")}
	FireWaits       = reason.Two{Sentence: define("fire_waits", "the fire of {fire_time:instant} waits to start as run {run_id:word}")}
	FireReported    = reason.Three{Sentence: define("fire_reported", "the fire of {fire_time:instant} ran elsewhere: run {run_id:word} is reported as {status:state}")}
	FireEnded       = reason.Three{Sentence: define("fire_ended", "the fire of {fire_time:instant} did not start: run {run_id:word} ended as {status:state}")}
	FireWasSkipped  = reason.One{Sentence: define("fire_was_skipped", "the fire of {fire_time:instant} was skipped")}
	FireUndecided   = reason.One{Sentence: define("fire_undecided", "the fire of {fire_time:instant} is not decided yet")}
	FireUnjudged    = reason.One{Sentence: define("fire_unjudged", "what became of the fire of {fire_time:instant} is not known")}
	FireContradicts = reason.One{Sentence: define("fire_contradicts", "the fire of {fire_time:instant} is a discrepancy")}
	FireWillRun     = reason.One{Sentence: define("fire_will_run", "the job will fire at {fire_time:instant}")}
	FireWillSkip    = reason.One{Sentence: define("fire_will_skip", "the fire of {fire_time:instant} will be skipped")}
	NoFireThen      = reason.One{Sentence: define("no_fire_then", "no fire at {at:instant}")}
	JobNotThere     = reason.One{Sentence: define("job_not_there", "the job did not exist before {created:instant}")}
	JobGone         = reason.One{Sentence: define("job_gone", "the job was deleted at {deleted:instant}")}
	JobGoneBy       = reason.Two{Sentence: define("job_gone_by", "the job was deleted by {by:word} at {deleted:instant}")}
)

// What helps to understand the sentences before it.
var (
	PausedAt        = reason.One{Sentence: further("paused_at", "paused at {at:instant}")}
	PausedBy        = reason.Two{Sentence: further("paused_by", "paused by {by:word} at {at:instant}")}
	Noted           = reason.One{Sentence: further("noted", "with the note: {note:free}")}
	CalendarRule    = reason.One{Sentence: further("calendar_rule", `its rule is "{rule:phrase}"`)}
	VersionThen     = reason.Two{Sentence: further("version_then", "that was version {version:number}, which was replaced at {at:instant}")}
	VersionThenBy   = reason.Three{Sentence: further("version_then_by", "that was version {version:number}, which {by:word} replaced at {at:instant}")}
	FurtherInMinute = reason.One{Sentence: further("further_in_minute", "the minute has {fires|more fire|more fires}")}
)
