package reason

// Why a step of a workflow does not run, and how a run of one has ended, as the scheduler decides.
var (
	StepNeeds          = Three{define("step_needs", "it runs on {on:word} of step {step:word}, which ended as {state:state}")}
	StepCondition      = One{define("step_condition", "its condition is false: {condition:free}")}
	StepConditionError = One{define("step_condition_error", "its condition cannot be computed: {why:free}")}
	StepParams         = One{define("step_params", "its parameters cannot be computed: {why:free}")}
	StepParamsTooLarge = Two{define("step_params_too_large", "its parameters have {bytes:number} bytes; at most {most:number} are passed on")}
	StepResultTooLarge = Two{define("step_result_too_large", "with its result, the results of the run's steps have {bytes:number} bytes; at most {most:number} are kept")}
	CallRefused        = One{define("call_refused", "the called job {job:word} did not run")}
	CalledUnknown      = None{define("called_unknown", "there is no such job")}
	CalledRemoved      = None{define("called_removed", "the called job was removed while the run was alive")}
	CallsTooDeep       = Two{define("calls_too_deep", "calls are nested {nested:number} deep; at most {most:number} are allowed")}
	CallTimedOut       = One{define("call_timed_out", "the step that called it took longer than {limit:duration}")}
	StepStopped        = One{define("step_stopped", "step {step:word} ended badly, after which no further step begins")}
	StepTaken          = One{define("step_taken", "taken over from run {run_id:word}")}
	StepReadParams     = None{define("step_read_params", "it read parameters that are changed now")}
	StepsAllRepeat     = None{define("steps_all_repeat", "all steps are repeated")}
	StepFinallyRepeats = None{define("step_finally_repeats", "finally steps are always repeated")}
	StepAlwaysRepeats  = None{define("step_always_repeats", "it is repeated with the steps that follow it")}
	StepChosen         = None{define("step_chosen", "it is one of the steps from which the run is repeated")}
	StepIsNew          = One{define("step_is_new", "version {version:number} of the job has no such step")}
	StepChanged        = One{define("step_changed", "its task has changed since version {version:number} of the job")}
	StepNotKept        = None{define("step_not_kept", "the history has nothing of it")}
	StepEnded          = One{define("step_ended", "it ended as {status:state} before")}
	StepFollows        = One{define("step_follows", "it follows step {step:word}, which is repeated")}
	StepRetried        = One{define("step_retried", "retried by {by:word}")}
	StepResolved       = One{define("step_resolved", "resolved by {by:word}")}
	StepDecidedAgain   = One{define("step_decided_again", "it is decided again, as step {step:word} was retried or resolved")}
	StepResultCut      = None{define("step_result_cut", "other steps refer to its result, which was too large and was cut")}
	StepListUnknown    = One{define("step_list_unknown", "its list cannot be computed: {why:free}")}
	StepNoList         = One{define("step_no_list", "{reference:phrase} is no list, of which each element would be a piece")}
	StepListTooLong    = Two{define("step_list_too_long", "its list has {pieces|element|elements}; at most {most:number} are done")}
	StepListEmpty      = None{define("step_list_empty", "its list is empty, so there was nothing to do")}
	StepUnknown        = None{define("step_unknown", "it had begun, and nothing is known of its run any more")}
	WorkflowDeleted    = None{define("workflow_deleted", "the job was deleted before the step began")}
	WorkflowTimedOut   = One{define("workflow_timed_out", "the run took longer than {limit:duration}")}
	WorkflowResult     = One{define("workflow_result", "its result cannot be computed: {why:free}")}
	StepsFailed        = Three{define("steps_failed", "{bad:number} of {total|step|steps} ended badly: {steps:phrase}")}
	StepsCancelled     = Three{define("steps_cancelled", "{cancelled:number} of {total|step|steps} were cancelled: {steps:phrase}")}
	StepsSkipped       = One{define("steps_skipped", "none of {total|step|steps} had anything to do")}
	StepsTally         = Two{define("steps_tally", "{succeeded:number} of {total|step|steps} succeeded")}
	StepsPassed        = One{further("steps_passed", "{skipped|was|were} skipped")}
	StepsForgiven      = One{further("steps_forgiven", "{forgiven|ended badly, as it may|ended badly, as they may}")}
)
