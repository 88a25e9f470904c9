package reason

// Why a schedule has no fire in a minute.
var (
	NoSchedule      = None{Define("no_schedule", "the job has no schedule: it runs when somebody or another job starts it")}
	FollowsRuns     = One{Define("follows_runs", "it fires {delay:duration} after the end of each run, not at fixed times")}
	ScheduleBegins  = One{Define("schedule_begins", "the schedule begins at {from:instant}")}
	ScheduleOver    = One{Define("schedule_over", "the schedule ended at {until:instant}")}
	FiresOnce       = One{Define("fires_once", "the schedule has a single fire, at {at:instant}")}
	BetweenFires    = Two{Define("between_fires", "the schedule fires every {every:duration}, counted from {anchor:instant}")}
	NotInYear       = Two{Define("not_in_year", `the schedule does not fire in {year:word}: its year is "{field:phrase}"`)}
	NotInMonth      = Two{Define("not_in_month", `the schedule does not fire in {month:month}: its month is "{field:phrase}"`)}
	NotOnDay        = Two{Define("not_on_day", `the schedule does not fire on {date:word}: its day of the month is "{field:phrase}"`)}
	NotOnWeekday    = Two{Define("not_on_weekday", `the schedule does not fire on {weekday:weekday}: its day of the week is "{field:phrase}"`)}
	NotOnEither     = Three{Define("not_on_either", `the schedule does not fire on {weekday:weekday}, {date:word}: its days are "{fields:phrase}"`)}
	NotInHour       = Two{Define("not_in_hour", `the schedule does not fire at {wall:word}: its hour is "{field:phrase}"`)}
	NotInMinute     = Two{Define("not_in_minute", `the schedule does not fire at {wall:word}: its minute is "{field:phrase}"`)}
	IntervalBegins  = One{Define("interval_begins", "its interval begins on {from:word}")}
	IntervalSkips   = Two{Define("interval_skips", `its interval does not include {date:word}: it is "{interval:phrase}"`)}
	IntervalTimes   = Two{Define("interval_times", `its interval has no fire at {wall:word}: it is "{interval:phrase}"`)}
	ClockSkipped    = Three{Define("clock_skipped", "clocks were put forward at {at:instant}, and {wall:word} did not exist: by {rule:word} the schedule does not fire then")}
	ClockSkippedTo  = Two{Define("clock_skipped_to", "clocks were put forward at {at:instant}, and {wall:word} did not exist: this is the next minute that did")}
	ClockFiresFirst = Three{Define("clock_fires_first", "clocks were put back at {at:instant}, and {wall:word} came twice: by {rule:word} the schedule fires the first time")}
	ClockFiresLast  = Three{Define("clock_fires_last", "clocks are put back at {at:instant}, and {wall:word} comes twice: by {rule:word} the schedule fires the second time")}
)
