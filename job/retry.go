package job

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Backoff says how the wait before an attempt grows.
type Backoff string

// The ways in which waits grow.
const (
	BackoffConstant    Backoff = "constant"    // delay, delay, delay
	BackoffLinear      Backoff = "linear"      // delay, 2 delay, 3 delay
	BackoffExponential Backoff = "exponential" // delay, 2 delay, 4 delay
)

// Defaults and bounds of retries.
const (
	MaxRetries        = 100
	DefaultRetryDelay = 10 * time.Second
	DefaultRetryMax   = time.Hour
	MaxRetryDelay     = 7 * 24 * time.Hour
)

// Retry is a job's rule for attempts after the first. In JSON it may also be written
// as the limit alone: 3.
type Retry struct {
	// Limit is how many attempts there may be after the first. Zero is none.
	Limit int `json:"limit,omitempty"`
	// Backoff defaults to exponential, Delay to 10 s, MaxDelay, which caps what Backoff
	// makes of Delay, to 1 h.
	Backoff  Backoff  `json:"backoff,omitempty"`
	Delay    Duration `json:"delay,omitempty"`
	MaxDelay Duration `json:"max_delay,omitempty"`
	// Jitter spreads the waits of different runs: each is longer by a share of it that is
	// chosen by hash, from none to Jitter percent.
	Jitter int `json:"jitter_percent,omitempty"`
	// On is after which ends there is another attempt. Defaults to failed and timed_out,
	// and, unless the job is delivered at most once, lost.
	On []Status `json:"on,omitempty"`
	// ExitCodes narrows failed to these codes of a program. Empty is any.
	ExitCodes []int `json:"exit_codes,omitempty"`
	// DropStale ends a run of the schedule instead of trying it again, once the run of a
	// later fire has succeeded.
	DropStale bool `json:"drop_stale,omitempty"`
}

// UnmarshalJSON reads an object, or the limit alone as a number.
func (r *Retry) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && (data[0] == '-' || data[0] >= '0' && data[0] <= '9') {
		return json.Unmarshal(data, &r.Limit)
	}
	type plain Retry
	return decodeWithin("retry", data, (*plain)(r))
}

func (r Retry) withDefaults(d Delivery) Retry {
	if r.Limit == 0 {
		return r
	}
	if r.Backoff == "" {
		r.Backoff = BackoffExponential
	}
	if r.Delay == 0 {
		r.Delay = Duration(DefaultRetryDelay)
	}
	if r.MaxDelay == 0 {
		r.MaxDelay = max(Duration(DefaultRetryMax), r.Delay)
	}
	if len(r.On) == 0 {
		r.On = []Status{StatusFailed, StatusTimedOut}
		if d != AtMostOnce {
			r.On = append(r.On, StatusLost)
		}
	}
	return r
}

// Again reports whether another attempt follows the given one, counted from 1, which
// ended with status and, if a program ran, with an exit code.
func (r Retry) Again(attempt int, status Status, exitCode *int) bool {
	if attempt > r.Limit || !slices.Contains(r.On, status) {
		return false
	}
	if status != StatusFailed || len(r.ExitCodes) == 0 {
		return true
	}
	return exitCode != nil && slices.Contains(r.ExitCodes, *exitCode)
}

// Wait returns how long to wait after the end of the given attempt. It is a pure
// function, jitter included, so every owner of a shard finds the same.
func (r Retry) Wait(id RunID, attempt int) time.Duration {
	wait, most := r.Delay.Std(), r.MaxDelay.Std()
	switch r.Backoff {
	case BackoffLinear:
		wait *= time.Duration(attempt) // at most MaxRetries times MaxRetryDelay: far from overflow
	case BackoffExponential:
		for n := 1; n < attempt && wait < most; n++ {
			wait *= 2
		}
	case BackoffConstant:
	}
	wait = min(wait, most)
	if r.Jitter > 0 {
		h := fnv.New32a()
		_, _ = h.Write([]byte(string(id) + strconv.Itoa(attempt))) // never fails
		wait += wait * time.Duration(r.Jitter) / 100 * time.Duration(h.Sum32()%1001) / 1000
	}
	return wait.Truncate(time.Millisecond)
}

func (r Retry) validate(d Delivery) []error {
	var errs []error
	if r.Limit < 0 || r.Limit > MaxRetries {
		errs = append(errs, Invalid("retry.limit", "%d must be between 0 and %d", r.Limit, MaxRetries))
	}
	switch r.Backoff {
	case BackoffConstant, BackoffLinear, BackoffExponential, "":
	default:
		errs = append(errs, Invalid("retry.backoff", "%q must be constant, linear or exponential", clip.Text(string(r.Backoff), maxQuoted)))
	}
	if w := r.Delay.Std(); w < 0 || w > MaxRetryDelay {
		errs = append(errs, Invalid("retry.delay", "%s must be between 0 and %s", r.Delay, Duration(MaxRetryDelay)))
	}
	switch w := r.MaxDelay.Std(); {
	case w < 0 || w > MaxRetryDelay:
		errs = append(errs, Invalid("retry.max_delay", "%s must be between 0 and %s", r.MaxDelay, Duration(MaxRetryDelay)))
	case w > 0 && w < r.Delay.Std():
		errs = append(errs, Invalid("retry.max_delay", "%s must not be less than retry.delay, %s", r.MaxDelay, r.Delay))
	}
	if r.Jitter < 0 || r.Jitter > 100 {
		errs = append(errs, Invalid("retry.jitter_percent", "%d must be between 0 and 100", r.Jitter))
	}
	for _, s := range r.On {
		switch {
		case s != StatusFailed && s != StatusTimedOut && s != StatusLost:
			errs = append(errs, Invalid("retry.on", "%q must be failed, timed_out or lost", clip.Text(string(s), maxQuoted)))
		case s == StatusLost && d == AtMostOnce:
			errs = append(errs, Invalid("retry.on", "has lost, after which delivery at_most_once forbids another attempt"))
		}
	}
	if len(r.ExitCodes) > 0 && len(r.On) > 0 && !slices.Contains(r.On, StatusFailed) {
		errs = append(errs, Invalid("retry.exit_codes", "narrows failed, which retry.on does not have"))
	}
	if r.Limit == 0 && (r.Backoff != "" || r.Delay != 0 || r.MaxDelay != 0 || r.Jitter != 0 || len(r.On) > 0 || len(r.ExitCodes) > 0 || r.DropStale) {
		errs = append(errs, Invalid("retry.limit", "must be 1 or more when retry has other fields"))
	}
	return errs
}
