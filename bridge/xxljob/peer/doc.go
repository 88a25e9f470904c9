// Package peer calls executors of XXL-JOB, as their admin would.
//
// What it tells apart is whether a call can have had its effect: [ErrNotSent] means that the executor
// has never heard of it, a [Refusal] is its answer, and after any other error nobody knows.
//
// Addresses come from the executors that register. A guard decides which of them are called. Redirects
// are not followed, and answers are bounded.
package peer
