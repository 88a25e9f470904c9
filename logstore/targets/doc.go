// Package targets finds the jobs that miss their targets, for whoever alerts people.
//
//	versions in JOBS ──▶ targets of jobs ──┐
//	reports of the last 30 days ───────────┴──▶ [cluster.MissedTargets], which the alerter reads
//
// The process that writes to the log store looks, since the alerter has no store. While the store
// is away nothing is compared, and what was found grows old.
package targets
