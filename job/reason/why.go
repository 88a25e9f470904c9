package reason

// Why a schedule has no fire in a minute.
var (
	NoSchedule      = None{define("no_schedule", "the job has no schedule: it runs when somebody or another job starts it")}
	FollowsRuns     = One{define("follows_runs", "it fires {delay:duration} after the end of each run, not at fixed times")}
	ScheduleBegins  = One{define("schedule_begins", "the schedule begins at {from:instant}")}
	ScheduleOver    = One{define("schedule_over", "the schedule ended at {until:instant}")}
	FiresOnce       = One{define("fires_once", "the schedule has a single fire, at {at:instant}")}
	BetweenFires    = Two{define("between_fires", "the schedule fires every {every:duration}, counted from {anchor:instant}")}
	NotInYear       = Two{define("not_in_year", `the schedule does not fire in {year:word}: its year is "{field:phrase}"`)}
	NotInMonth      = Two{define("not_in_month", `the schedule does not fire in {month:month}: its month is "{field:phrase}"`)}
	NotOnDay        = Two{define("not_on_day", `the schedule does not fire on {date:word}: its day of the month is "{field:phrase}"`)}
	NotOnWeekday    = Two{define("not_on_weekday", `the schedule does not fire on {weekday:weekday}: its day of the week is "{field:phrase}"`)}
	NotOnEither     = Three{define("not_on_either", `the schedule does not fire on {weekday:weekday}, {date:word}: its days are "{fields:phrase}"`)}
	NotInHour       = Two{define("not_in_hour", `the schedule does not fire at {wall:word}: its hour is "{field:phrase}"`)}
	NotInMinute     = Two{define("not_in_minute", `the schedule does not fire at {wall:word}: its minute is "{field:phrase}"`)}
	IntervalBegins  = One{define("interval_begins", "its interval begins on {from:word}")}
	IntervalSkips   = Two{define("interval_skips", `its interval does not include {date:word}: it is "{interval:phrase}"`)}
	IntervalTimes   = Two{define("interval_times", `its interval has no fire at {wall:word}: it is "{interval:phrase}"`)}
	ClockSkipped    = Three{define("clock_skipped", "clocks were put forward at {at:instant}, and {wall:word} did not exist: by {rule:word} the schedule does not fire then")}
	ClockSkippedTo  = Two{define("clock_skipped_to", "clocks were put forward at {at:instant}, and {wall:word} did not exist: this is the next minute that did")}
	ClockFiresFirst = Three{define("clock_fires_first", "clocks were put back at {at:instant}, and {wall:word} came twice: by {rule:word} the schedule fires the first time")}
	ClockFiresLast  = Three{define("clock_fires_last", "clocks are put back at {at:instant}, and {wall:word} comes twice: by {rule:word} the schedule fires the second time")}
)

// What became of a fire about which somebody asks, beside AwaitedMissed. What the ledger says of it follows.
var (
	FireRan         = Three{define("fire_ran", "the fire of {fire_time:instant} ran on time as run {run_id:word}, which ended as {status:state}")}
	FireRanLate     = Five{define("fire_ran_late", "the fire of {fire_time:instant} started {late:duration} late, at {started:instant}, as run {run_id:word}, which ended as {status:state}")}
	FireRuns        = Three{define("fire_runs", "the fire of {fire_time:instant} runs since {started:instant} as run {run_id:word}")}
	FireWaits       = Two{define("fire_waits", "the fire of {fire_time:instant} waits to start as run {run_id:word}")}
	FireEnded       = Three{define("fire_ended", "the fire of {fire_time:instant} did not start: run {run_id:word} ended as {status:state}")}
	FireWasSkipped  = One{define("fire_was_skipped", "the fire of {fire_time:instant} was skipped")}
	FireUndecided   = One{define("fire_undecided", "the fire of {fire_time:instant} is not decided yet")}
	FireUnjudged    = One{define("fire_unjudged", "what became of the fire of {fire_time:instant} is not known")}
	FireContradicts = One{define("fire_contradicts", "the fire of {fire_time:instant} is a discrepancy")}
	FireWillRun     = One{define("fire_will_run", "the job will fire at {fire_time:instant}")}
	FireWillSkip    = One{define("fire_will_skip", "the fire of {fire_time:instant} will be skipped")}
	NoFireThen      = One{define("no_fire_then", "no fire at {at:instant}")}
	JobNotThere     = One{define("job_not_there", "the job did not exist before {created:instant}")}
	JobGone         = One{define("job_gone", "the job was deleted at {deleted:instant}")}
	JobGoneBy       = Two{define("job_gone_by", "the job was deleted by {by:word} at {deleted:instant}")}
)

// What helps to understand the sentences before it.
var (
	PausedAt        = One{further("paused_at", "paused at {at:instant}")}
	PausedBy        = Two{further("paused_by", "paused by {by:word} at {at:instant}")}
	Noted           = One{further("noted", "with the note: {note:free}")}
	CalendarRule    = One{further("calendar_rule", `its rule is "{rule:phrase}"`)}
	VersionThen     = Two{further("version_then", "that was version {version:number}, which was replaced at {at:instant}")}
	VersionThenBy   = Three{further("version_then_by", "that was version {version:number}, which {by:word} replaced at {at:instant}")}
	FurtherInMinute = One{further("further_in_minute", "the minute has {fires|more fire|more fires}")}
)
