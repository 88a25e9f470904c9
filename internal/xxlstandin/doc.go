// Package xxlstandin is an executor of XXL-JOB in Go, for tests and benchmarks of the bridge. It keeps
// to what XXL-JOB's own executors do, in any of the three dialects: a thread and a queue for each job,
// kill by job, a log for each run, callbacks that are repeated until they are taken. It is written from a
// description of the protocol; no code of XXL-JOB is in it.
package xxlstandin
