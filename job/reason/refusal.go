package reason

// Why a request is refused, or warned of, by what executors link, too. Package refusal has the others.
var (
	ExistsAlready   = One{Refuse("exists_already", "{what:phrase} exists already")}
	ChangedJustNow  = One{Refuse("changed_just_now", "{what:phrase} was changed by somebody else just now")}
	InPast          = One{Refuse("in_past", "{at:instant} is in the past: the job never fires")}
	NoFireLeft      = None{Refuse("no_fire_left", "has no fire from now on: the job never fires")}
	StepUneven      = Three{Refuse("step_uneven", `has "{step:phrase}", which stands for {values:phrase} and starts again each time; use fixed_rate for a fire every {every:duration}`)}
	DaysNumbered    = Two{Refuse("days_numbered", `has "{days:phrase}", which is {names:phrase}, because 1 is Sunday with six fields; write names, such as MON-FRI`)}
	StepRestarts    = Three{Refuse("step_restarts", `has "{step:phrase}", which stands for {values:phrase} and starts again each time; for equal intervals, use every with "{every:phrase}"`)}
	DayMissing      = Three{Refuse("day_missing", `names day {day:number} and does not fire in months that end before it ({months:phrase}); for the last day, use every with "{every:phrase}"`)}
	LeapDay         = One{Refuse("leap_day", `names day 29, which February has in leap years only; for the last day, use every with "{every:phrase}"`)}
	EitherDay       = One{Refuse("either_day", `has a day of the month and a day of the week, and fires on each day that one of them matches, as cron does; for days that both match, use every, such as "{every:phrase}"`)}
	StarBefore      = One{Refuse("star_before", `has "*" before "{value:phrase}" and fires 60 times then; for one fire, write 0 in the place of the *`)}
	RateIgnoresZone = Two{Refuse("rate_ignores_zone", "has no effect on when a fixed rate fires: its time of day changes with the clocks of {zone:word}, next at {change:instant}; use cron or every for a fixed time of day")}
	TooManyBytes    = Two{Refuse("too_many_bytes", "has {bytes|byte|bytes}; at most {most:number} are passed on")}
	OnlyFireAt      = One{Refuse("only_fire_at", "the schedule has one fire, at {at:instant}")}
	ScheduleEnds    = One{Refuse("schedule_ends", "the schedule ends at {until:instant}")}
	NoDate          = None{Refuse("no_date", "no date matches the schedule")}
	NoLaterDate     = None{Refuse("no_later_date", "no later date matches the schedule")}
)
