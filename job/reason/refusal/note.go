package refusal

import "github.com/carillon-scheduler/carillon/job/reason"

// What servers say of a change in the audit log, beside the note of whoever made it.
var (
	StartedRun     = reason.One{Sentence: reason.Refuse("started_run", "started run {run_id:word}")}
	StartedTestRun = reason.One{Sentence: reason.Refuse("started_test_run", "started test run {run_id:word}")}
	OnlyTried      = reason.None{Sentence: reason.Refuse("only_tried", "a dry run, which changed nothing")}
	MarkedAs       = reason.One{Sentence: reason.Refuse("marked_as", "marked as {as:state}")}
	WithKey        = reason.One{Sentence: reason.Refuse("with_key", "with key {key:phrase}")}
	TokenOf        = reason.Two{Sentence: reason.Refuse("token_of", "token {name:phrase} of {user:phrase}")}
	CredentialFor  = reason.One{Sentence: reason.Refuse("credential_for", "credential {name:phrase}")}
	LetterOf       = reason.Two{Sentence: reason.Refuse("letter_of", "message on {subject:word} of stream {stream:word}")}
)
