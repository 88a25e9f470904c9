// Package request does http tasks: it sends a request and judges by the answer's
// status whether the run succeeded.
//
//	err := request.Register(e, request.Config{Allow: []string{"10.1.0.0/16", "localhost:8080"}})
//
// The answer's body becomes lines of the run's log if it is text. The run's result is
//
//	{"status": 200, "body": …}
//
// where body is the answer as JSON or text, left out when it is neither or too long.
//
// The request has these headers, which the task's own take the place of:
//
//	Carillon-Run-Id, Carillon-Job, Carillon-Attempt, Carillon-Fence, Carillon-Cause, Carillon-Fire-Time
//	Carillon-Broadcast-Index, Carillon-Broadcast-Total   in a run that is done in pieces
//	Carillon-Split: true                                 the answer's body is to be the list of the run's pieces
//	Idempotency-Key   the run's id, attempt and piece: the same when an attempt is delivered again
//
// # Where requests may go
//
// A job must not reach what only this machine can: addresses that are not public are
// refused unless [Config.Allow] has them. Package outbound says how.
//
// A redirect to another host gets none of the task's headers, and never its body.
package request
