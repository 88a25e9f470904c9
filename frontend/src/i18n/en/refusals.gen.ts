// The table of package job/reason, as it writes it. Do not edit.

/** The English sentences of refusals and of imports by their codes, with the parameters in braces. */
export const refusals = {
  no_boot: "a cluster does not boot; start such work with the machine's init system",
  not_utf8: "is not UTF-8; save the file in that encoding, if the program's name is in it, too",
  mixed_crontab:
    "cannot be detected: some lines name a well-known user before the command, and this one cannot: {line:phrase}. Choose --system, or --system=false (in the API, system)",
  name_taken: 'the name "{name:phrase}" is used on line {line:number} already',
  setting_no_name: "has no name before the =",
  no_time_zone: '"{zone:phrase}" is not a time zone; use an IANA name such as {example:word}',
  nothing_mailed: "nothing is mailed; what a job prints is in its run's log",
  minutes_wrong: '"{value:phrase}" must be a number of minutes from 0 to {most:number}',
  becomes_spread: "becomes schedule.spread: a delay that is the same each time",
  runs_as_executor: "runs as the executor does, not as {user:word}",
  empty_directory: "runs in an empty directory, not in a home",
  few_fields:
    "has {fields:number} of the five fields minute, hour, day of month, month and day of week, and no command",
  no_user_no_command: "has no user and no command; a system crontab names a user before the command",
  no_command_after_user: "has no command after the user; is it a user's crontab?",
  no_command: "has no command",
  no_command_before_input: "has no command before the %",
  event_cancelled: "it is cancelled",
  event_part_of_day: "it lasts part of a day, and a calendar has whole days",
  event_over: "it is over before {date:word}",
  event_no_day: "no day of it is left",
  event_recurs: "it recurs without end, and is expanded until {date:word}",
  no_executor_row:
    "belongs to executor {executor:word}, which has no row in the dump; dump {table:word} too, or choose a group",
  app_name_no_group:
    'belongs to executor {executor:word}, whose AppName "{name:phrase}" has no letter or digit for the name of a group; choose a group, and rename the AppName before its executors attach',
  app_names_one_group:
    "the AppNames {names:phrase} all become group {group:word}: rename all but one before their executors attach",
  addresses_by_hand:
    "the addresses of its executors were entered by hand ({addresses:phrase}): check that they register addresses that the bridge can reach, or use --rewrite",
  own_access_token:
    "its executors have an access token of their own: add a line with it for {name:phrase} to --access-token-file of the bridge",
  names_no_handler: "names no handler",
  glue_java:
    "is Java code from XXL-JOB (GLUE): only XXL-JOB executors behind the bridge run it; for other executors, turn it into a handler",
  glue_unknown: 'its glue_type "{kind:phrase}" is not known',
  python2: "was written for Python 2",
  no_number: '{column:word} "{value:phrase}" is not a number and was left out',
  value_unknown: '{column:word} "{value:phrase}" is not known and was left out',
  was_mailed: "its failures were mailed to {to:phrase}: create an alert rule for that",
  child_no_job: "its child {child:word} is not among the jobs and was left out",
  child_too_many:
    "its child {child:word} is one more than the {most:number} that a job may have and was left out",
  child_loop: "its child {child:word} leads back to it and was left out",
  manual_only: "the job runs only when somebody starts it",
  follows_end: "each fire follows the end of the previous run",
  no_more_fires: "there are no more fires",
  run_ended: "run {run_id:word} has ended already, as {status:state}",
  run_not_ended: "run {run_id:word} has not ended: it is {status:state}",
  run_not_ended_cancel: "run {run_id:word} has not ended: it is {status:state}; cancel it first",
  run_not_markable:
    "run {run_id:word} has the status {status:state}; only failed, timed-out, cancelled, lost or missed runs can be marked",
  run_not_alive: "run {run_id:word} of job {job:word} is not alive",
  all_pieces_succeeded: "all pieces of run {run_id:word} have succeeded",
  many_skips:
    "job {job:word} has {skips:number} skipped upcoming fires already, the most that a job can have",
  fire_ran_early: "the fire at {fire_time:instant} ran early, as run {run_id:word}; it would run twice",
  no_such_run: "there is no such run",
  no_such_incident: "there is no such incident",
  job_changed: "job {job:word} was changed by somebody else just now",
  exists_already: "{what:phrase} exists already",
  changed_just_now: "{what:phrase} was changed by somebody else just now",
  not_at_revision: "{what:phrase} is not at revision {revision:number}",
  version_not_kept: "version {version:number} of job {job:word} is not kept",
  version_of_newer:
    "version {version:number} of job {job:word} was saved by a newer server, and this one cannot read it",
  group_has_jobs:
    "is one too many: group {group:word} has {jobs|job|jobs}, and may have no more; delete some, or raise --group-jobs of the servers",
  group_has_documents:
    "is too large: with it, the jobs of group {group:word} have {bytes:number} bytes together, and may have {most:number}; make some smaller, or raise --group-jobs-size of the servers",
  group_has_scripts:
    "is one too many: group {group:word} has {scripts:number} scripts, and may have no more; those that no version uses go after a day",
  group_has_secrets:
    "is one too many: group {group:word} has {secrets:number} secrets, and may have no more; delete some",
  group_has_credentials:
    "{group:word} has {credentials:number} credentials, and may have no more; revoke some",
  user_has_tokens:
    "is one too many: user {user:word} has {tokens:number} API tokens, and may have no more; revoke some",
  backfill_twice: "another backfill of job {job:word} will run all of these fires",
  backfill_over: "backfill {backfill:word} of job {job:word} has started all its runs, or was cancelled",
  instance_stopping: "instance {instance:word} is stopping, and can no longer be resumed",
  needs_grant: "this needs the grant {grant:word} in group {group:word}",
  needs_role_in: "this needs the role {role:word} in group {group:word}",
  needs_role_somewhere: "this needs the role {role:word} in some executor group",
  group_waits: "is in group {group:word}, which has no executor; its runs wait until one is started",
  handler_unknown:
    '"{handler:phrase}" is not a handler of any executor of group {group:word}, and runs wait until one has it; known: {handlers:phrase}',
  kind_undone:
    "no live executor of group {group:word} runs {kind:word} tasks, and runs wait until one does; kinds run there: {kinds:phrase}",
  needs_role: "this needs the role {role:word} everywhere",
  needs_grant_to_change: "changing {field:word} needs the grant {grant:word} in group {group:word}",
  needs_params: "setting params needs the grant params in group {group:word}",
  needs_sql:
    "this needs the grants sql, logs and params everywhere, because a query can read the history of all groups",
  needs_child_role: "running child {job:word} needs the role operator in group {group:word}",
  store_silent: "the log store does not answer",
  part_silent: "a part of the system does not answer; try again",
  jobs_not_loaded: "the jobs are not loaded yet",
  shard_silent:
    "the scheduler node that owns shard {shard:number}, where job {job:word} is, does not answer; it is not known whether the request took effect",
  audit_silent: "nothing was changed: the audit log does not answer",
  see_log: "the server's log has the details under the request id",
  sign_in_first: "sign in first, or send an API token",
  sign_in_or_ask: "sign in, or ask an administrator",
  wrong_password: "the user name or the password is wrong",
  bad_token:
    "the API token is not valid: it is mistyped, has expired or was revoked, or its user was deleted or has not signed in at the OIDC provider for too long",
  provider_silent: "the OIDC provider does not answer",
  not_reached: "the request timed out before this was started; try again",
  is_missing: "is missing",
  must_lie_ahead: "{until:instant} must be in the future",
  calendar_unknown: "names calendar {calendar:word}, which does not exist",
  calendar_in_use: "jobs name calendar {calendar:word}: {jobs:phrase}",
  calendar_in_use_too:
    "jobs name calendar {calendar:word}: {jobs:phrase}; {others|job|jobs} of groups that you may not see too",
  once_in_past: "{once:instant} is in the past: the job never fires",
  must_lie_after: "must be after {field:word}",
  too_many_bytes: "has {bytes|byte|bytes}; at most {most:number} are passed on",
  cursor_of_page: "must be the value of next from the previous page",
  until_for_pause: "is only for pausing",
  fire_ahead: "{fire_time:instant} must be at least {ahead:duration} in the future",
  run_id_old:
    "has the time {at:instant}, and the history has no run of it: choose a new one, since an id that is more than five minutes old may have been used before",
  run_id_ahead:
    "has the time {at:instant}, which is more than a minute ahead: set the clock that it comes from",
  key_twice: "contradicts {field:word} of the body: give one of the two",
  too_many_costly:
    "you have {requests:number} reports, exports, previews or imports under way or waiting, the most at a time: send fewer at once",
  costly_busy: "other reports, exports, previews or imports kept the server busy for too long: try again",
  pieces_all: "must be all for a run without pieces",
};

export type RefusalCode = keyof typeof refusals;
