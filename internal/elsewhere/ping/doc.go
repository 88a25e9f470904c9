// Package ping tells a server that a run of a job has begun or ended elsewhere.
//
// A ping says how long ago that was, not when: the clocks of two machines need not agree.
package ping
