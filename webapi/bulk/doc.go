// Package bulk does to many jobs or runs what a request of its own would do to each: if the caller
// may, and with an entry in the audit log. Each has its own outcome.
package bulk
