package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// JobPage is a part of the ledger of a job, oldest first.
type JobPage struct {
	Items []Entry `json:"items"`
	// Counts are of all fires that were looked at for the page, whatever their outcome.
	Counts Tally `json:"counts"`
	// DecidedUntil is the position of the job's shard: up to there fires are judged.
	DecidedUntil time.Time `json:"decided_until"`
	// HistorySince is where the job's history begins; zero when there is none of any job.
	HistorySince time.Time `json:"history_since,omitzero"`
	// VersionsSince is from when on the versions are kept: earlier fires are not known.
	VersionsSince time.Time `json:"versions_since"`
	Next          string    `json:"next,omitempty"`
}

// Day is what became of a job's fires within a day in UTC.
type Day struct {
	Job   job.Name  `json:"job"`
	Date  time.Time `json:"day"` // its beginning
	Tally `json:"counts"`
}

// JobEntry is a discrepancy of a job.
type JobEntry struct {
	Job job.Name `json:"job"`
	Entry
}

// Page is a part of an audit. Jobs are in the order of their names.
type Page struct {
	Days          []Day      `json:"items"`
	Total         Tally      `json:"total"` // of the page
	Discrepancies []JobEntry `json:"discrepancies"`
	// DecidedUntil is the position of the shard that is furthest behind.
	DecidedUntil time.Time `json:"decided_until"`
	Next         string    `json:"next,omitempty"`
}
