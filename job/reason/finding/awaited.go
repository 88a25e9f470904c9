package finding

import "github.com/carillon-scheduler/carillon/job/reason"

// What is missing to a step that waits for runs of a job.
var (
	AwaitedRun     = reason.Two{Sentence: define("awaited_run", "the run of {fire_time:instant} is {status:state}")}
	AwaitedSkipped = reason.Two{Sentence: define("awaited_skipped", "the fire of {fire_time:instant} was skipped: {why:free}")}
	AwaitedMissed  = reason.One{Sentence: define("awaited_missed", "the fire of {fire_time:instant} was missed")}
	AwaitedAhead   = reason.One{Sentence: define("awaited_ahead", "the fire of {fire_time:instant} is still to come")}
	AwaitedUnknown = reason.Two{Sentence: define("awaited_unknown", "of the fire of {fire_time:instant} it is not known what became: {why:free}")}
	AwaitedFurther = reason.One{Sentence: define("awaited_further", "{fires|further fire|further fires}")}
	AwaitedUntil   = reason.Two{Sentence: define("awaited_until", "the fires of {job:word} up to {until:instant} are not all decided yet")}
	AwaitedNoJob   = reason.One{Sentence: define("awaited_no_job", "there is no job {job:word}")}
	AwaitedDeleted = reason.One{Sentence: define("awaited_deleted", "job {job:word} was deleted")}
	AwaitedTooMany = reason.One{Sentence: define("awaited_too_many", "there are more than {most|fire|fires}, which is the most that a step can wait for")}
)
