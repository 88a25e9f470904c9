// Package outcome holds the words of the ledger: what became of each fire that a job owed,
// counts of it, and what contradicts the promise. Package ledger finds it out.
package outcome
