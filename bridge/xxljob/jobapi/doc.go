// Package jobapi lets executors of XXL-JOB's dialect C manage jobs of their own group: addJob, updateJob,
// removeJob, startJob, stopJob and triggerJob become requests to Carillon's HTTP API.
//
// The API's token decides what is allowed. A caller must show its group's own access token, and reaches
// jobs of that group only.
package jobapi
