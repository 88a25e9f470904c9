package reason

// What the ledger says of a fire.
var (
	TwoOutcomes        = Three{define("two_outcomes", "it has two outcomes: beside this it is one of {fires|fire|fires} recorded as {status:status}, of which {run_id:word} is the first")}
	SecondRun          = One{define("second_run", "it is a second run for the fire of run {run_id:word}")}
	NoSuchFire         = None{define("no_such_fire", "no version of the job fires at that instant")}
	NotFiredSince      = One{define("not_fired_since", "the job has not fired since, though its shard has come up to {until:instant}")}
	FiresAgain         = None{define("fires_again", "the job fires again")}
	ShardNotThere      = One{define("shard_not_there", "its shard has come up to {until:instant}")}
	VersionNotHeard    = One{define("version_not_heard", "its shard does not know version {version:number} yet")}
	OlderThanHistory   = None{define("older_than_history", "it is older than the history")}
	NotInHistoryYet    = None{define("not_in_history_yet", "there are records that are not in the history yet")}
	EditOfDelay        = None{define("edit_of_delay", "it is close to an edit of a fixed delay, which its shard may have learned of late")}
	NothingKnown       = One{define("nothing_known", "nothing is known of it, though its shard has come up to {until:instant}")}
	BeforeFirstVersion = None{define("before_first_version", "it was before the first version of the job that is kept")}
	RecordedNow        = One{define("recorded_now", "its fire is recorded as {outcome:state} now")}
)

// What the ledger says of a run, or a step, that is done in pieces.
var (
	PiecesTooFew = Three{define("pieces_too_few", "it succeeded, though {succeeded:number} of {total|piece|pieces} did, of which {share:word} have to")}
	PiecesEnough = Three{define("pieces_enough", "it did not succeed, though {succeeded:number} of {total|piece|pieces} did, of which {share:word} have to")}
)

// What the ledger says of a step of a workflow.
var (
	StepNothingKnown     = None{define("step_nothing_known", "the run has ended, and nothing is known of the end of this step")}
	StepNotOwed          = One{define("step_not_owed", "it ran, and had to be skipped: {why:free}")}
	StepHadToFail        = One{define("step_had_to_fail", "it had to fail: {why:free}")}
	StepOwed             = One{define("step_owed", "it was skipped, and had to run: {why:free}")}
	StepBeforeSource     = One{define("step_before_source", "it did not wait for the end of step {step:word}")}
	StepNotTakeable      = None{define("step_not_takeable", "it was taken over, which only a step of a rerun can be that succeeded before")}
	StepTakenBadly       = Two{define("step_taken_badly", "it was taken over from run {run_id:word}, which ended as {status:state} or is of another step")}
	StepOriginUnknown    = One{define("step_origin_unknown", "it was taken over from run {run_id:word}, of which the history has nothing")}
	StepParamsUnknown    = None{define("step_params_unknown", "the history does not have the parameters of the run")}
	StepOfNoWorkflow     = Two{define("step_of_no_workflow", "the run {run_id:word} is of a step that version {version:number} does not have")}
	StepWaitUnbegun      = None{define("step_wait_unbegun", "its wait ended, and it is not recorded that it began")}
	StepWaitEarly        = One{define("step_wait_early", "it ended before {at:instant}, until when it had to wait")}
	StepWaitEndless      = None{define("step_wait_endless", "it timed out, though its wait had no limit")}
	StepWaitRejected     = One{define("step_wait_rejected", "{by:word} rejected it, though it waited for no approval")}
	StepWaitTooFew       = Two{define("step_wait_too_few", "{approved:number} of {least:number} approved it")}
	StepWaitByRequester  = One{define("step_wait_by_requester", "{by:word} approved it, who had asked for the run")}
	StepWaitUnsignalled  = One{define("step_wait_unsignalled", "it ended without signal {signal:word}")}
	StepWaitNoEvidence   = None{define("step_wait_no_evidence", "it does not say which runs are there for which it waited")}
	StepWaitFewRuns      = Two{define("step_wait_few_runs", "it did not have the runs for which it waited: {met:number} of {of:number}")}
	StepWaitOtherRun     = Two{define("step_wait_other_run", "it did not have to go on with run {run_id:word}, which is {status:free}")}
	WorkflowNotEnded     = None{define("workflow_not_ended", "all of its steps have ended, and the run has not")}
	WorkflowStatusWrong  = One{define("workflow_status_wrong", "by its steps the run had to end as {status:status}")}
	StepsContradict      = One{define("steps_contradict", "its steps contradict their graph: {steps:phrase}")}
	StepConditionUnknown = One{define("step_condition_unknown", "its condition cannot be computed any more: {why:free}")}
)
