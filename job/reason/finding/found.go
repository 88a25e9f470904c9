package finding

import "github.com/carillon-scheduler/carillon/job/reason"

// What the ledger says of a fire.
var (
	TwoOutcomes        = reason.Three{Sentence: define("two_outcomes", "it has two outcomes: beside this it is one of {fires|fire|fires} recorded as {status:status}, of which {run_id:word} is the first")}
	SecondRun          = reason.One{Sentence: define("second_run", "it is a second run for the fire of run {run_id:word}")}
	NoSuchFire         = reason.None{Sentence: define("no_such_fire", "no version of the job fires at that instant")}
	NotFiredSince      = reason.One{Sentence: define("not_fired_since", "the job has not fired since, though its shard has come up to {until:instant}")}
	FiresAgain         = reason.None{Sentence: define("fires_again", "the job fires again")}
	ShardNotThere      = reason.One{Sentence: define("shard_not_there", "its shard has come up to {until:instant}")}
	VersionNotHeard    = reason.One{Sentence: define("version_not_heard", "its shard does not know version {version:number} yet")}
	OlderThanHistory   = reason.None{Sentence: define("older_than_history", "it is older than the history")}
	NotInHistoryYet    = reason.None{Sentence: define("not_in_history_yet", "there are records that are not in the history yet")}
	EditOfDelay        = reason.None{Sentence: define("edit_of_delay", "it is close to an edit of a fixed delay, which its shard may have learned of late")}
	NothingKnown       = reason.One{Sentence: define("nothing_known", "nothing is known of it, though its shard has come up to {until:instant}")}
	NeverBegan         = reason.One{Sentence: define("never_began", "it was accepted, and neither began nor ended, though its shard has come up to {until:instant}")}
	NoPingAwaited      = reason.None{Sentence: define("no_ping_awaited", "no end of it is recorded, and its shard no longer waits for a ping")}
	ReportedLate       = reason.Two{Sentence: define("reported_late", "a ping told too late that it {status:status} {after:duration} after the fire time")}
	BeforeFirstVersion = reason.None{Sentence: define("before_first_version", "it was before the first version of the job that is kept")}
	RecordedNow        = reason.One{Sentence: define("recorded_now", "its fire is recorded as {outcome:state} now")}
)

// What the ledger says of a run, or a step, that is done in pieces.
var (
	PiecesTooFew = reason.Three{Sentence: define("pieces_too_few", "it succeeded, though {succeeded:number} of {total|piece|pieces} did, of which {share:word} have to")}
	PiecesEnough = reason.Three{Sentence: define("pieces_enough", "it did not succeed, though {succeeded:number} of {total|piece|pieces} did, of which {share:word} have to")}
)

// What the ledger says of a step of a workflow.
var (
	StepNothingKnown     = reason.None{Sentence: define("step_nothing_known", "the run has ended, and nothing is known of the end of this step")}
	StepNotOwed          = reason.One{Sentence: define("step_not_owed", "it ran, and had to be skipped: {why:free}")}
	StepHadToFail        = reason.One{Sentence: define("step_had_to_fail", "it had to fail: {why:free}")}
	StepOwed             = reason.One{Sentence: define("step_owed", "it was skipped, and had to run: {why:free}")}
	StepBeforeSource     = reason.One{Sentence: define("step_before_source", "it did not wait for the end of step {step:word}")}
	StepNotTakeable      = reason.None{Sentence: define("step_not_takeable", "it was taken over, which only a step of a rerun can be that succeeded before")}
	StepTakenBadly       = reason.Two{Sentence: define("step_taken_badly", "it was taken over from run {run_id:word}, which ended as {status:state} or is of another step")}
	StepOriginUnknown    = reason.One{Sentence: define("step_origin_unknown", "it was taken over from run {run_id:word}, of which the history has nothing")}
	StepParamsUnknown    = reason.None{Sentence: define("step_params_unknown", "the history does not have the parameters of the run")}
	StepOfNoWorkflow     = reason.Two{Sentence: define("step_of_no_workflow", "the run {run_id:word} is of a step that version {version:number} does not have")}
	StepWaitUnbegun      = reason.None{Sentence: define("step_wait_unbegun", "its wait ended, and it is not recorded that it began")}
	StepWaitEarly        = reason.One{Sentence: define("step_wait_early", "it ended before {at:instant}, until when it had to wait")}
	StepWaitEndless      = reason.None{Sentence: define("step_wait_endless", "it timed out, though its wait had no limit")}
	StepWaitRejected     = reason.One{Sentence: define("step_wait_rejected", "{by:word} rejected it, though it waited for no approval")}
	StepWaitTooFew       = reason.Two{Sentence: define("step_wait_too_few", "{approved:number} of {least:number} approved it")}
	StepWaitByRequester  = reason.One{Sentence: define("step_wait_by_requester", "{by:word} approved it, who had asked for the run")}
	StepWaitUnsignalled  = reason.One{Sentence: define("step_wait_unsignalled", "it ended without signal {signal:word}")}
	StepWaitNoEvidence   = reason.None{Sentence: define("step_wait_no_evidence", "it does not say which runs are there for which it waited")}
	StepWaitFewRuns      = reason.Two{Sentence: define("step_wait_few_runs", "it did not have the runs for which it waited: {met:number} of {of:number}")}
	StepWaitOtherRun     = reason.Two{Sentence: define("step_wait_other_run", "it did not have to go on with run {run_id:word}, which is {status:free}")}
	WorkflowNotEnded     = reason.None{Sentence: define("workflow_not_ended", "all of its steps have ended, and the run has not")}
	WorkflowStatusWrong  = reason.One{Sentence: define("workflow_status_wrong", "by its steps the run had to end as {status:status}")}
	StepsContradict      = reason.One{Sentence: define("steps_contradict", "its steps contradict their graph: {steps:phrase}")}
	StepConditionUnknown = reason.One{Sentence: define("step_condition_unknown", "its condition cannot be computed any more: {why:free}")}
)
