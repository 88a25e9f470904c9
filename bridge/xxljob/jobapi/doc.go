// Package jobapi lets executors of XXL-JOB's dialect C manage jobs of their own group: addJob, updateJob,
// removeJob, startJob, stopJob and triggerJob become requests to Carillon's HTTP API.
//
// The API's token decides what is allowed, and a caller reaches no job of another group, whatever the
// token allows.
package jobapi
