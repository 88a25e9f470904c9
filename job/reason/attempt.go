package reason

// How an attempt ended, as its executor says.
var (
	TimedOut           = One{Define("timed_out", "took longer than its timeout of {timeout:duration}")}
	EndBy              = One{Define("end_by", "the run had to end by {by:instant}, with all its attempts")}
	NotEnded           = None{Further("not_ended", "its executor did not end it")}
	RunCancelled       = None{Define("run_cancelled", "the run was cancelled")}
	RunCancelledBy     = One{Define("run_cancelled_by", "the run was cancelled by {by:word}")}
	RunCancelledNote   = One{Define("run_cancelled_note", "the run was cancelled: {note:free}")}
	RunCancelledByNote = Two{Define("run_cancelled_by_note", "the run was cancelled by {by:word}: {note:free}")}
	// The next two are what comes of ReplacedBy as the note of a cancellation.
	RunReplaced          = One{Define("run_replaced", "the run was cancelled: run {run_id:word} replaces it")}
	CancelledReplaced    = One{Define("cancelled_replaced", "cancelled: run {run_id:word} replaces it")}
	CancelledBeforeStart = None{Define("cancelled_before_start", "cancelled before it began here")}
	ExecutorStopped      = None{Define("executor_stopped", "the executor stopped before the run could end, and delivery at_most_once forbids to run it again")}
	NobodyFreeBy         = One{Define("nobody_free_by", "no instance was free to begin it by {by:instant}")}
	GivenBackTooLate     = One{Define("given_back_too_late", "it had to begin by {by:instant}: until then no instance was free, or the one that had it went silent or gave it back")}
	Abandoned            = One{Define("abandoned", "the handler did not stop within {patience:duration} and was abandoned")}
	ResultLeftOut        = One{Define("result_left_out", "the result was left out: {why:free}")}
	ResultUnfinished     = Two{Define("result_unfinished", "the handler returned unfinished work: {place:phrase} is {what:phrase}; finish it in the handler, and return its value")}
	ResultCut            = Two{Define("result_cut", "the result has {bytes|byte|bytes}, more than {most:number}: only its beginning is kept")}
	StoreElsewhere       = None{Further("store_elsewhere", "store it elsewhere, and return where it is")}
	LogIncomplete        = Two{Define("log_incomplete", "the log is incomplete: NATS did not take {dropped:number} of {lines:number} lines in time")}
	EndTooLarge          = Two{Define("end_too_large", "the run's end event has {bytes|byte|bytes}, but at most {most:number} fit into the max_payload of NATS: the result was left out and the message cut; set max_payload to at least 1MB")}
	ExitCode             = One{Define("exit_code", "exit code {exit_code:number}")}
	ExitCodeSaid         = Two{Define("exit_code_said", "exit code {exit_code:number}: {said:free}")}
	KilledBySignal       = One{Define("killed_by_signal", "killed by signal: {signal:phrase}")}
	NoProgram            = One{Define("no_program", `start "{program:phrase}": there is no such program in the executor's PATH`)}
	NoFile               = Two{Define("no_file", `start "{program:phrase}": there is no such file, seen from {dir:phrase}, or its interpreter is missing`)}
	NotExecutable        = One{Define("not_executable", `start "{program:phrase}": the file is not executable for the executor's user`)}
	NoInterpreter        = Two{Define("no_interpreter", "no interpreter for {language:word} scripts: the executor's PATH has no {programs:phrase}")}
	GroovyElsewhere      = None{Define("groovy_elsewhere", "groovy scripts run only at XXL-JOB executors behind the bridge; turn this one into a handler")}
	LanguageNotAllowed   = Two{Define("language_not_allowed", "{language:word} scripts are not allowed on this executor; it runs {languages:phrase}")}
	ScriptGone           = One{Define("script_gone", "the script {digest:word} is gone; save the job again with its source")}
	NoHandler            = Two{Define("no_handler", `no handler "{handler:phrase}" is registered with this executor; registered: {handlers:phrase}`)}
	KindNotRun           = Two{Define("kind_not_run", "this executor does not run {kind:word} tasks; it runs {kinds:phrase}")}
	NoSecretKey          = None{Define("no_secret_key", "the task asks for secrets, and this executor has no key for them; give it the key of its group (--secret-key, or CARILLON_SECRET_KEY_FILE)")}
	NoSecret             = Three{Define("no_secret", `there is no secret "{secret:word}" in group {group:word}; set it with: {command:phrase}`)}
	ClosedWithoutAnswer  = None{Define("closed_without_answer", "the other side closed the connection without an answer")}
)
