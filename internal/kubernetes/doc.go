// Package kubernetes reads manifests of batch/v1 CronJobs, and makes them report their runs.
//
// For each CronJob there is a job that waits for reports, and a manifest in which the command of the first
// container is run by "carillon watch". An init container brings the program. No cluster is asked.
package kubernetes
