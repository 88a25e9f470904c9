package executor

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// retryError is the error of a handler, and what it says of the next attempt.
type retryError struct {
	error
	final bool          // there is to be none
	after time.Duration // how long it is to wait; zero: as the rule of the job says
}

// Unwrap returns the error that the handler gave.
func (e *retryError) Unwrap() error { return e.error }

// Final returns err for a handler to return whose run must not be tried again, whatever its job's
// retry rule says: the parameters are wrong, or the work cannot be done twice. The run is failed,
// with err's text.
func Final(err error) error { return &retryError{error: err, final: true} }

// RetryAfter returns err for a handler to return that knows when another try makes sense. If the
// job's rule allows another attempt, it is due d after this one's end, in the place of the rule's
// wait; d is rounded up to milliseconds and is at most 168 h. In a run with pieces, the rule's wait
// stays.
func RetryAfter(d time.Duration, err error) error {
	d = min(max(d, 0), job.MaxRetryDelay)
	return &retryError{error: err, after: (d + time.Millisecond - 1).Truncate(time.Millisecond)}
}
