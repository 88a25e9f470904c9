package reason

// Why a request is refused.
var (
	RunEnded           = Two{define("run_ended", "run {run_id:word} has ended already, as {status:state}")}
	RunNotEnded        = Two{define("run_not_ended", "run {run_id:word} has not ended: it is {status:state}")}
	RunNotEndedCancel  = Two{define("run_not_ended_cancel", "run {run_id:word} has not ended: it is {status:state}; cancel it first")}
	RunNotMarkable     = Two{define("run_not_markable", "run {run_id:word} has the status {status:state}; only failed, timed-out, cancelled, lost or missed runs can be marked")}
	RunNotAlive        = Two{define("run_not_alive", "run {run_id:word} of job {job:word} is not alive")}
	AllPiecesSucceeded = One{define("all_pieces_succeeded", "all pieces of run {run_id:word} have succeeded")}
	ManySkips          = Two{define("many_skips", "job {job:word} has {skips:number} skipped upcoming fires already, the most that a job can have")}
	FireRanEarly       = Two{define("fire_ran_early", "the fire at {fire_time:instant} ran early, as run {run_id:word}; it would run twice")}
	NoSuchRun          = None{define("no_such_run", "there is no such run")}
	NoSuchIncident     = None{define("no_such_incident", "there is no such incident")}
	JobChanged         = One{define("job_changed", "job {job:word} was changed by somebody else just now")}
	ExistsAlready      = One{define("exists_already", "{what:phrase} exists already")}
	ChangedJustNow     = One{define("changed_just_now", "{what:phrase} was changed by somebody else just now")}
	NotAtRevision      = Two{define("not_at_revision", "{what:phrase} is not at revision {revision:number}")}
	VersionNotKept     = Two{define("version_not_kept", "version {version:number} of job {job:word} is not kept")}
	VersionOfNewer     = Two{define("version_of_newer", "version {version:number} of job {job:word} was saved by a newer server, and this one cannot read it")}
	BackfillTwice      = One{define("backfill_twice", "another backfill of job {job:word} will run all of these fires")}
	BackfillOver       = Two{define("backfill_over", "backfill {backfill:word} of job {job:word} has started all its runs, or was cancelled")}
	InstanceStopping   = One{define("instance_stopping", "instance {instance:word} is stopping, and can no longer be resumed")}
	NeedsGrant         = Two{define("needs_grant", "this needs the grant {grant:word} in group {group:word}")}
	NeedsRoleIn        = Two{define("needs_role_in", "this needs the role {role:word} in group {group:word}")}
	NeedsRoleSomewhere = One{define("needs_role_somewhere", "this needs the role {role:word} in some executor group")}
	GroupWaits         = One{define("group_waits", "is in group {group:word}, which has no executor; its runs wait until one is started")}
	HandlerUnknown     = Three{define("handler_unknown", `"{handler:phrase}" is not a handler of any executor of group {group:word}, and runs wait until one has it; known: {handlers:phrase}`)}
	KindUndone         = Three{define("kind_undone", "no live executor of group {group:word} runs {kind:word} tasks, and runs wait until one does; kinds run there: {kinds:phrase}")}
	NeedsRole          = One{define("needs_role", "this needs the role {role:word} everywhere")}
	NeedsGrantToChange = Three{define("needs_grant_to_change", "changing {field:word} needs the grant {grant:word} in group {group:word}")}
	NeedsParams        = One{define("needs_params", "setting params needs the grant params in group {group:word}")}
	NeedsSQL           = None{define("needs_sql", "this needs the grants sql, logs and params everywhere, because a query can read the history of all groups")}
	NeedsChildRole     = Two{define("needs_child_role", "running child {job:word} needs the role operator in group {group:word}")}
	StoreSilent        = None{define("store_silent", "the log store does not answer")}
	PartSilent         = None{define("part_silent", "a part of the system does not answer; try again")}
	JobsNotLoaded      = None{define("jobs_not_loaded", "the jobs are not loaded yet")}
	ShardSilent        = Two{define("shard_silent", "the scheduler node that owns shard {shard:number}, where job {job:word} is, does not answer; it is not known whether the request took effect")}
	AuditSilent        = None{define("audit_silent", "nothing was changed: the audit log does not answer")}
	SeeLog             = None{define("see_log", "the server's log has the details under the request id")}
	SignInFirst        = None{define("sign_in_first", "sign in first, or send an API token")}
	SignInOrAsk        = None{define("sign_in_or_ask", "sign in, or ask an administrator")}
	WrongPassword      = None{define("wrong_password", "the user name or the password is wrong")}
	BadToken           = None{define("bad_token", "the API token is not valid: it is mistyped, has expired or was revoked, or its user was deleted or has not signed in at the OIDC provider for too long")}
	ProviderSilent     = None{define("provider_silent", "the OIDC provider does not answer")}
	NotReached         = None{define("not_reached", "the request timed out before this was started; try again")}
	IsMissing          = None{define("is_missing", "is missing")}
	MustLieAhead       = One{define("must_lie_ahead", "{until:instant} must be in the future")}
	OnceInPast         = One{define("once_in_past", "{once:instant} is in the past: the job never fires")}
	MustLieAfter       = One{define("must_lie_after", "must be after {field:word}")}
	TooManyBytes       = Two{define("too_many_bytes", "has {bytes|byte|bytes}; at most {most:number} are passed on")}
	CursorOfPage       = None{define("cursor_of_page", "must be the value of next from the previous page")}
	UntilForPause      = None{define("until_for_pause", "is only for pausing")}
	FireAhead          = Two{define("fire_ahead", "{fire_time:instant} must be at least {ahead:duration} in the future")}
	PiecesAll          = None{define("pieces_all", "must be all for a run without pieces")}
)
