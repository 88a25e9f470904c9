package reason

// What is said of a schedule, and of what is imported.
var (
	NoBoot               = None{refuse("no_boot", "a cluster does not boot; start such work with the machine's init system")}
	NotUTF8              = None{refuse("not_utf8", "is not UTF-8; save the file in that encoding, if the program's name is in it, too")}
	MixedCrontab         = One{refuse("mixed_crontab", "cannot be detected: some lines name a well-known user before the command, and this one cannot: {line:phrase}. Choose --system, or --system=false (in the API, system)")}
	NameTaken            = Two{refuse("name_taken", `the name "{name:phrase}" is used on line {line:number} already`)}
	SettingNoName        = None{refuse("setting_no_name", "has no name before the =")}
	NoTimeZone           = Two{refuse("no_time_zone", `"{zone:phrase}" is not a time zone; use an IANA name such as {example:word}`)}
	NothingMailed        = None{refuse("nothing_mailed", "nothing is mailed; what a job prints is in its run's log")}
	MinutesWrong         = Two{refuse("minutes_wrong", `"{value:phrase}" must be a number of minutes from 0 to {most:number}`)}
	BecomesSpread        = None{refuse("becomes_spread", "becomes schedule.spread: a delay that is the same each time")}
	RunsAsExecutor       = One{refuse("runs_as_executor", "runs as the executor does, not as {user:word}")}
	EmptyDirectory       = None{refuse("empty_directory", "runs in an empty directory, not in a home")}
	FewFields            = One{refuse("few_fields", "has {fields:number} of the five fields minute, hour, day of month, month and day of week, and no command")}
	NoUserNoCommand      = None{refuse("no_user_no_command", "has no user and no command; a system crontab names a user before the command")}
	NoCommandAfterUser   = None{refuse("no_command_after_user", "has no command after the user; is it a user's crontab?")}
	SixFields            = One{refuse("six_fields", `has six fields of time, and lines of a crontab have five: cron would run "{command:phrase}". Remove one field; for seconds, create a job with six fields in schedule.cron`)}
	RandomBecomesH       = Two{refuse("random_becomes_h", "{random:phrase} becomes {fields:phrase}: H is a value that the job's name chooses and that stays the same; cron chooses a random one each time it reads the file")}
	EveryCounted         = One{refuse("every_counted", "fires every {every:duration} of elapsed time, counted from 1970-01-01T00:00:00Z and not from the import or a start; to move that, use fixed_rate and anchor in a job")}
	ZoneOnItsLine        = One{refuse("zone_on_its_line", "a line of a crontab cannot have a time zone; write CRON_TZ={zone:word} on a line of its own above it")}
	ForeignFile          = Two{refuse("foreign_file", "is no crontab, but {format:phrase}; use {command:phrase}")}
	ForeignFormat        = One{refuse("foreign_format", "is no crontab, but {format:phrase}; write its schedules and commands as jobs, and use carillon apply -f FILE")}
	AnacronLine          = None{refuse("anacron_line", "is a line of an anacrontab (period in days, delay, name, command); write a line of a crontab, such as 0 3 * * * and the command")}
	CronFlags            = One{refuse("cron_flags", "{flags:word} are flags of OpenBSD's cron: -s becomes overlap: skip, others are left out")}
	OnlyEnvironment      = None{refuse("only_environment", "is only in the environment of the jobs, as in cron; CRON_TZ sets the time zone of the lines below")}
	NoCommand            = None{refuse("no_command", "has no command")}
	NoCommandBeforeInput = None{refuse("no_command_before_input", "has no command before the %")}
	EventCancelled       = None{refuse("event_cancelled", "it is cancelled")}
	EventPartOfDay       = None{refuse("event_part_of_day", "it lasts part of a day, and a calendar has whole days")}
	EventOver            = One{refuse("event_over", "it is over before {date:word}")}
	EventNoDay           = None{refuse("event_no_day", "no day of it is left")}
	EventRecurs          = One{refuse("event_recurs", "it recurs without end, and is expanded until {date:word}")}
	NoExecutorRow        = Two{refuse("no_executor_row", "belongs to executor {executor:word}, which has no row in the dump; dump {table:word} too, or choose a group")}
	AppNameNoGroup       = Two{refuse("app_name_no_group", `belongs to executor {executor:word}, whose AppName "{name:phrase}" has no letter or digit for the name of a group; choose a group, and rename the AppName before its executors attach`)}
	AppNamesOneGroup     = Two{refuse("app_names_one_group", "the AppNames {names:phrase} all become group {group:word}: rename all but one before their executors attach")}
	AddressesByHand      = One{refuse("addresses_by_hand", "the addresses of its executors were entered by hand ({addresses:phrase}): check that they register addresses that the bridge can reach, or use --rewrite")}
	OwnAccessToken       = One{refuse("own_access_token", "its executors have an access token of their own: add a line with it for {name:phrase} to --access-token-file of the bridge")}
	NamesNoHandler       = None{refuse("names_no_handler", "names no handler")}
	GlueJava             = None{refuse("glue_java", "is Java code from XXL-JOB (GLUE): only XXL-JOB executors behind the bridge run it; for other executors, turn it into a handler")}
	GlueUnknown          = One{refuse("glue_unknown", `its glue_type "{kind:phrase}" is not known`)}
	Python2              = None{refuse("python2", "was written for Python 2")}
	NoNumber             = Two{refuse("no_number", `{column:word} "{value:phrase}" is not a number and was left out`)}
	ValueUnknown         = Two{refuse("value_unknown", `{column:word} "{value:phrase}" is not known and was left out`)}
	WasMailed            = One{refuse("was_mailed", "its failures were mailed to {to:phrase}: create an alert rule for that")}
	ChildNoJob           = One{refuse("child_no_job", "its child {child:word} is not among the jobs and was left out")}
	ChildTooMany         = Two{refuse("child_too_many", "its child {child:word} is one more than the {most:number} that a job may have and was left out")}
	ChildLoop            = One{refuse("child_loop", "its child {child:word} leads back to it and was left out")}
	ChildrenLooped       = One{refuse("children_looped", "its children stay children: {job:word} leads back to one before it, so there is no workflow")}
	ChildrenKept         = None{refuse("children_kept", "its children stay children: it has no schedule, so no workflow begins with it")}
	NoWorkflow           = One{refuse("no_workflow", "its children stay children: as a workflow, {why:phrase}")}
	ScheduleMoved        = One{refuse("schedule_moved", "is called by {job:word}, which has its schedule and its children")}
	StoppedSchedule      = One{refuse("stopped_schedule", "was stopped, and is called by a workflow: its schedule {schedule:phrase} was left out, since a paused job cannot be called")}
	StepRenamed          = Two{refuse("step_renamed", "{job:word} is step {step:word}, since another step has the plain name")}
	StepRunsOnce         = One{refuse("step_runs_once", "step {step:word} runs once, after all steps before it; in XXL-JOB it ran after each of them")}
	ManualOnly           = None{refuse("manual_only", "the job runs only when somebody starts it")}
	FollowsEnd           = None{refuse("follows_end", "each fire follows the end of the previous run")}
	OnlyFireAt           = One{refuse("only_fire_at", "the schedule has one fire, at {at:instant}")}
	ScheduleEnds         = One{refuse("schedule_ends", "the schedule ends at {until:instant}")}
	NoDate               = None{refuse("no_date", "no date matches the schedule")}
	NoLaterDate          = None{refuse("no_later_date", "no later date matches the schedule")}
)
