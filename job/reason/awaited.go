package reason

// What is missing to a step that waits for runs of a job.
var (
	AwaitedRun     = Two{define("awaited_run", "the run of {fire_time:instant} is {status:state}")}
	AwaitedSkipped = Two{define("awaited_skipped", "the fire of {fire_time:instant} was skipped: {why:free}")}
	AwaitedMissed  = One{define("awaited_missed", "the fire of {fire_time:instant} was missed")}
	AwaitedAhead   = One{define("awaited_ahead", "the fire of {fire_time:instant} is still to come")}
	AwaitedUnknown = Two{define("awaited_unknown", "of the fire of {fire_time:instant} it is not known what became: {why:free}")}
	AwaitedFurther = One{define("awaited_further", "{fires|further fire|further fires}")}
	AwaitedUntil   = Two{define("awaited_until", "the fires of {job:word} up to {until:instant} are not all decided yet")}
	AwaitedNoJob   = One{define("awaited_no_job", "there is no job {job:word}")}
	AwaitedDeleted = One{define("awaited_deleted", "job {job:word} was deleted")}
	AwaitedTooMany = One{define("awaited_too_many", "there are more than {most|fire|fires}, which is the most that a step can wait for")}
)
