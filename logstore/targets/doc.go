// Package targets finds the jobs that miss their targets, for the alerter.
//
//	versions in JOBS ──▶ targets of jobs ──┐
//	reports of the last 30 days ───────────┴──▶ [cluster.MissedTargets], which the alerter reads
//
// The process that writes to the log store compares, because the alerter has no store. While the
// store is away the last list stays, and grows old.
package targets
