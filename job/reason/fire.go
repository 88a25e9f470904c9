package reason

// Why a fire does not run, or runs late.
var (
	JobPaused             = None{Define("job_paused", "the job is paused")}
	JobPausedUntil        = One{Define("job_paused_until", "the job is paused until {until:instant}")}
	EverythingPaused      = None{Define("everything_paused", "everything is paused")}
	EverythingPausedUntil = One{Define("everything_paused_until", "everything is paused until {until:instant}")}
	GroupPaused           = One{Define("group_paused", "executor group {group:word} is paused")}
	GroupPausedUntil      = Two{Define("group_paused_until", "executor group {group:word} is paused until {until:instant}")}
	FireSkipped           = One{Define("fire_skipped", "skipped by {by:word}")}
	FireSkippedNote       = Two{Define("fire_skipped_note", "skipped by {by:word}: {note:free}")}
	AskedEarly            = Two{Define("asked_early", "{by:word} asked for it early, as run {run_id:word}")}
	AskedEarlyNote        = Three{Define("asked_early_note", "{by:word} asked for it early, as run {run_id:word}: {note:free}")}
	CalendarExcludes      = One{Define("calendar_excludes", "calendar {calendar:word} excludes it")}
	CalendarOmits         = One{Define("calendar_omits", "calendar {calendar:word} does not include it")}
	CalendarsOmit         = None{Define("calendars_omit", "none of its calendars includes it")}
	ShiftsNext            = None{Further("shifts_next", "shift next moves it to the next day that the calendars allow")}
	ShiftsPrevious        = None{Further("shifts_previous", "shift previous moves it to the last day before that the calendars allow")}
	ShiftedFrom           = One{Define("shifted_from", "moved from {fire_time:instant}, which the calendars exclude")}
	NoticedLate           = One{Define("noticed_late", "noticed {late:duration} late")}
	DecidedLate           = One{Define("decided_late", "decided {late:duration} late")}
	ForMisfires           = One{Further("for_misfires", "it stands for {misfires|misfire|misfires}")}
	FiresUntil            = Two{Further("fires_until", "{fires|fire|fires} until {until:instant}")}
	NoticedTooLate        = None{Define("noticed_too_late", "noticed too late")}
	PausedByThen          = None{Further("paused_by_then", "everything was paused by then")}
	GroupPausedByThen     = None{Further("group_paused_by_then", "the executor group was paused by then")}
	DeletedByThen         = None{Further("deleted_by_then", "the job was deleted by then")}
	JobPausedByThen       = None{Further("job_paused_by_then", "the job was paused by then")}
	BeyondFireAll         = None{Further("beyond_fire_all", "it is older than the misfire policy fire_all reaches")}
	LatestStoodForAll     = None{Further("latest_stood_for_all", "by misfire policy fire_once the latest stood for all")}
	MisfireSkip           = None{Further("misfire_skip", "the misfire policy is skip")}
	ClockAhead            = Two{Define("clock_jumped_ahead", "the clock of node {node:word} jumped ahead by {by:duration}")}
	ClockBack             = Two{Define("clock_jumped_back", "the clock of node {node:word} jumped back by {by:duration}")}
	ClockAheadOfNATS      = Two{Define("clock_ahead", "the clock of node {node:word} was {by:duration} ahead of NATS' clock")}
	ClockBehindNATS       = Two{Define("clock_behind", "the clock of node {node:word} was {by:duration} behind NATS' clock")}
	ClockOutOfLine        = One{Define("clock_out_of_line", "the clock of node {node:word} was out of line with that of most nodes")}
	PositionAhead         = Three{Define("position_ahead", "the clock of node {node:word} is {by:duration} behind the position of the shard, which comes from a clock that was wrong; its jobs fire again from {until:instant}")}
	PositionWasAhead      = None{Define("position_was_ahead", "its shard waited for the clock, which had been ahead")}
	WhyUnseen             = None{Define("why_unseen", "who sees all groups may see why")}
	JobDeleted            = None{Define("job_deleted", "the job was deleted")}
	EarlyTooLate          = One{Define("early_too_late", "the fire of {fire_time:instant}, in whose place it was wanted, was decided before that was known")}
)

// Shifts returns the text that says to which side a fire moves: to a later day, or to an earlier one.
func Shifts(next bool) string {
	if next {
		return ShiftsNext.String()
	}
	return ShiftsPrevious.String()
}
