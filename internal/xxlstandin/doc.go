// Package xxlstandin is an executor that speaks XXL-JOB's protocol, for tests and benchmarks. It stands
// in for executors that cannot be had (those of dialect C, which is not released) and for those that
// no release is like: executors that answer at once, or wrongly, or never, or forget their runs.
//
// It does what the executor in Java does: a job has one run at a time and a queue, the block strategy
// decides about the next, a run that takes too long is reported at once and left alone, a killed one
// is reported when it has ended. Callbacks are sent by one sender, up to 50 in a message, and sent
// again until an admin thanks for them.
//
// The three dialects are those of XXL-JOB 2.2 to 3.2 (A), 3.3 to 3.4 (B), and 3.5 (C). It is written from a description of
// the protocol, and internal/e2e/xxl compares it with XXL-JOB's executors; no code of those is in it.
package xxlstandin
