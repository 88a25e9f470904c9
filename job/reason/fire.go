package reason

// Why a fire does not run, or runs late.
var (
	JobPaused             = None{define("job_paused", "the job is paused")}
	JobPausedUntil        = One{define("job_paused_until", "the job is paused until {until:instant}")}
	EverythingPaused      = None{define("everything_paused", "everything is paused")}
	EverythingPausedUntil = One{define("everything_paused_until", "everything is paused until {until:instant}")}
	GroupPaused           = One{define("group_paused", "executor group {group:word} is paused")}
	GroupPausedUntil      = Two{define("group_paused_until", "executor group {group:word} is paused until {until:instant}")}
	FireSkipped           = One{define("fire_skipped", "skipped by {by:word}")}
	FireSkippedNote       = Two{define("fire_skipped_note", "skipped by {by:word}: {note:free}")}
	AskedEarly            = Two{define("asked_early", "{by:word} asked for it early, as run {run_id:word}")}
	AskedEarlyNote        = Three{define("asked_early_note", "{by:word} asked for it early, as run {run_id:word}: {note:free}")}
	CalendarExcludes      = One{define("calendar_excludes", "calendar {calendar:word} excludes it")}
	CalendarOmits         = One{define("calendar_omits", "calendar {calendar:word} does not include it")}
	CalendarsOmit         = None{define("calendars_omit", "none of its calendars includes it")}
	ShiftsNext            = None{further("shifts_next", "shift next moves it to the next day that the calendars allow")}
	ShiftsPrevious        = None{further("shifts_previous", "shift previous moves it to the last day before that the calendars allow")}
	ShiftedFrom           = One{define("shifted_from", "moved from {fire_time:instant}, which the calendars exclude")}
	NoticedLate           = One{define("noticed_late", "noticed {late:duration} late")}
	DecidedLate           = One{define("decided_late", "decided {late:duration} late")}
	ForMisfires           = One{further("for_misfires", "it stands for {misfires|misfire|misfires}")}
	FiresUntil            = Two{further("fires_until", "{fires|fire|fires} until {until:instant}")}
	NoticedTooLate        = None{define("noticed_too_late", "noticed too late")}
	PausedByThen          = None{further("paused_by_then", "everything was paused by then")}
	GroupPausedByThen     = None{further("group_paused_by_then", "the executor group was paused by then")}
	DeletedByThen         = None{further("deleted_by_then", "the job was deleted by then")}
	JobPausedByThen       = None{further("job_paused_by_then", "the job was paused by then")}
	BeyondFireAll         = None{further("beyond_fire_all", "it is older than the misfire policy fire_all reaches")}
	LatestStoodForAll     = None{further("latest_stood_for_all", "by misfire policy fire_once the latest stood for all")}
	MisfireSkip           = None{further("misfire_skip", "the misfire policy is skip")}
	ClockAhead            = Two{define("clock_jumped_ahead", "the clock of node {node:word} jumped ahead by {by:duration}")}
	ClockBack             = Two{define("clock_jumped_back", "the clock of node {node:word} jumped back by {by:duration}")}
	ClockAheadOfNATS      = Two{define("clock_ahead", "the clock of node {node:word} was {by:duration} ahead of NATS' clock")}
	ClockBehindNATS       = Two{define("clock_behind", "the clock of node {node:word} was {by:duration} behind NATS' clock")}
	ClockOutOfLine        = One{define("clock_out_of_line", "the clock of node {node:word} was out of line with that of most nodes")}
	PositionAhead         = Three{define("position_ahead", "the clock of node {node:word} is {by:duration} behind the position of the shard, which comes from a clock that was wrong; its jobs fire again from {until:instant}")}
	PositionWasAhead      = None{define("position_was_ahead", "its shard waited for the clock, which had been ahead")}
	WhyUnseen             = None{define("why_unseen", "who sees all groups may see why")}
	JobDeleted            = None{define("job_deleted", "the job was deleted")}
	EarlyTooLate          = One{define("early_too_late", "the fire of {fire_time:instant}, in whose place it was wanted, was decided before that was known")}
)

// Shifts returns the text that says to which side a fire moves: to a later day, or to an earlier one.
func Shifts(next bool) string {
	if next {
		return ShiftsNext.String()
	}
	return ShiftsPrevious.String()
}
