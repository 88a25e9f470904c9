package refusal

import "github.com/carillon-scheduler/carillon/job/reason"

// What is said of a schedule, and of what is imported.
var (
	NoBoot               = reason.None{Sentence: reason.Refuse("no_boot", "a cluster does not boot; start such work with the machine's init system")}
	NotUTF8              = reason.None{Sentence: reason.Refuse("not_utf8", "is not UTF-8; save the file in that encoding, if the program's name is in it, too")}
	MixedCrontab         = reason.One{Sentence: reason.Refuse("mixed_crontab", "cannot be detected: some lines name a well-known user before the command, and this one cannot: {line:phrase}. Choose --system, or --system=false (in the API, system)")}
	NameTaken            = reason.Two{Sentence: reason.Refuse("name_taken", `the name "{name:phrase}" is used on line {line:number} already`)}
	SettingNoName        = reason.None{Sentence: reason.Refuse("setting_no_name", "has no name before the =")}
	NoTimeZone           = reason.Two{Sentence: reason.Refuse("no_time_zone", `"{zone:phrase}" is not a time zone; use an IANA name such as {example:word}`)}
	NothingMailed        = reason.None{Sentence: reason.Refuse("nothing_mailed", "nothing is mailed; what a job prints is in its run's log")}
	MinutesWrong         = reason.Two{Sentence: reason.Refuse("minutes_wrong", `"{value:phrase}" must be a number of minutes from 0 to {most:number}`)}
	BecomesSpread        = reason.None{Sentence: reason.Refuse("becomes_spread", "becomes schedule.spread: a delay that is the same each time")}
	RunsAsExecutor       = reason.One{Sentence: reason.Refuse("runs_as_executor", "runs as the executor does, not as {user:word}")}
	EmptyDirectory       = reason.None{Sentence: reason.Refuse("empty_directory", "runs in an empty directory, not in a home")}
	FewFields            = reason.One{Sentence: reason.Refuse("few_fields", "has {fields:number} of the five fields minute, hour, day of month, month and day of week, and no command")}
	NoUserNoCommand      = reason.None{Sentence: reason.Refuse("no_user_no_command", "has no user and no command; a system crontab names a user before the command")}
	NoCommandAfterUser   = reason.None{Sentence: reason.Refuse("no_command_after_user", "has no command after the user; is it a user's crontab?")}
	SixFields            = reason.One{Sentence: reason.Refuse("six_fields", `has six fields of time, and lines of a crontab have five: cron would run "{command:phrase}". Remove one field; for seconds, create a job with six fields in schedule.cron`)}
	RandomBecomesH       = reason.Two{Sentence: reason.Refuse("random_becomes_h", "{random:phrase} becomes {fields:phrase}: H is a value that the job's name chooses and that stays the same; cron chooses a random one each time it reads the file")}
	EveryCounted         = reason.One{Sentence: reason.Refuse("every_counted", "fires every {every:duration} of elapsed time, counted from 1970-01-01T00:00:00Z and not from the import or a start; to move that, use fixed_rate and anchor in a job")}
	ZoneOnItsLine        = reason.One{Sentence: reason.Refuse("zone_on_its_line", "a line of a crontab cannot have a time zone; write CRON_TZ={zone:word} on a line of its own above it")}
	ForeignFile          = reason.Two{Sentence: reason.Refuse("foreign_file", "is no crontab, but {format:phrase}; use {command:phrase}")}
	ForeignFormat        = reason.One{Sentence: reason.Refuse("foreign_format", "is no crontab, but {format:phrase}; write its schedules and commands as jobs, and use carillon apply -f FILE")}
	AnacronLine          = reason.None{Sentence: reason.Refuse("anacron_line", "is a line of an anacrontab (period in days, delay, name, command); write a line of a crontab, such as 0 3 * * * and the command")}
	CronFlags            = reason.One{Sentence: reason.Refuse("cron_flags", "{flags:word} are flags of OpenBSD's cron: -s becomes overlap: skip, others are left out")}
	OnlyEnvironment      = reason.None{Sentence: reason.Refuse("only_environment", "is only in the environment of the jobs, as in cron; CRON_TZ sets the time zone of the lines below")}
	NoCommand            = reason.None{Sentence: reason.Refuse("no_command", "has no command")}
	NoCommandBeforeInput = reason.None{Sentence: reason.Refuse("no_command_before_input", "has no command before the %")}
	EventCancelled       = reason.None{Sentence: reason.Refuse("event_cancelled", "it is cancelled")}
	EventPartOfDay       = reason.None{Sentence: reason.Refuse("event_part_of_day", "it lasts part of a day, and a calendar has whole days")}
	EventOver            = reason.One{Sentence: reason.Refuse("event_over", "it is over before {date:word}")}
	EventNoDay           = reason.None{Sentence: reason.Refuse("event_no_day", "no day of it is left")}
	EventRecurs          = reason.One{Sentence: reason.Refuse("event_recurs", "it recurs without end, and is expanded until {date:word}")}
	NoExecutorRow        = reason.Two{Sentence: reason.Refuse("no_executor_row", "belongs to executor {executor:word}, which has no row in the dump; dump {table:word} too, or choose a group")}
	AppNameNoGroup       = reason.Two{Sentence: reason.Refuse("app_name_no_group", `belongs to executor {executor:word}, whose AppName "{name:phrase}" has no letter or digit for the name of a group; choose a group, and rename the AppName before its executors attach`)}
	AppNamesOneGroup     = reason.Two{Sentence: reason.Refuse("app_names_one_group", "the AppNames {names:phrase} all become group {group:word}: rename all but one before their executors attach")}
	AddressesByHand      = reason.One{Sentence: reason.Refuse("addresses_by_hand", "the addresses of its executors were entered by hand ({addresses:phrase}): check that they register addresses that the bridge can reach, or use --rewrite")}
	OwnAccessToken       = reason.One{Sentence: reason.Refuse("own_access_token", "its executors have an access token of their own: add a line with it for {name:phrase} to --access-token-file of the bridge")}
	NamesNoHandler       = reason.None{Sentence: reason.Refuse("names_no_handler", "names no handler")}
	GlueJava             = reason.None{Sentence: reason.Refuse("glue_java", "is Java code from XXL-JOB (GLUE): only XXL-JOB executors behind the bridge run it; for other executors, turn it into a handler")}
	GlueUnknown          = reason.One{Sentence: reason.Refuse("glue_unknown", `its glue_type "{kind:phrase}" is not known`)}
	Python2              = reason.None{Sentence: reason.Refuse("python2", "was written for Python 2")}
	NoNumber             = reason.Two{Sentence: reason.Refuse("no_number", `{column:word} "{value:phrase}" is not a number and was left out`)}
	ValueUnknown         = reason.Two{Sentence: reason.Refuse("value_unknown", `{column:word} "{value:phrase}" is not known and was left out`)}
	WasMailed            = reason.One{Sentence: reason.Refuse("was_mailed", "its failures were mailed to {to:phrase}: create an alert rule for that")}
	ChildNoJob           = reason.One{Sentence: reason.Refuse("child_no_job", "its child {child:word} is not among the jobs and was left out")}
	ChildTooMany         = reason.Two{Sentence: reason.Refuse("child_too_many", "its child {child:word} is one more than the {most:number} that a job may have and was left out")}
	ChildLoop            = reason.One{Sentence: reason.Refuse("child_loop", "its child {child:word} leads back to it and was left out")}
	ChildrenLooped       = reason.One{Sentence: reason.Refuse("children_looped", "its children stay children: {job:word} leads back to one before it, so there is no workflow")}
	ChildrenKept         = reason.None{Sentence: reason.Refuse("children_kept", "its children stay children: it has no schedule, so no workflow begins with it")}
	NoWorkflow           = reason.One{Sentence: reason.Refuse("no_workflow", "its children stay children: as a workflow, {why:phrase}")}
	ScheduleMoved        = reason.One{Sentence: reason.Refuse("schedule_moved", "is called by {job:word}, which has its schedule and its children")}
	StoppedSchedule      = reason.One{Sentence: reason.Refuse("stopped_schedule", "was stopped, and is called by a workflow: its schedule {schedule:phrase} was left out, since a paused job cannot be called")}
	StepRenamed          = reason.Two{Sentence: reason.Refuse("step_renamed", "{job:word} is step {step:word}, since another step has the plain name")}
	StepRunsOnce         = reason.One{Sentence: reason.Refuse("step_runs_once", "step {step:word} runs once, after all steps before it; in XXL-JOB it ran after each of them")}
	ManualOnly           = reason.None{Sentence: reason.Refuse("manual_only", "the job runs only when somebody starts it")}
	FollowsEnd           = reason.None{Sentence: reason.Refuse("follows_end", "each fire follows the end of the previous run")}
)
