// Package demo shows within a minute what Carillon promises: jobs fire, the scheduler is killed in the
// middle, twice, and the ledger accounts for every fire. It changes when the show does.
//
// [Handlers] do the runs and count them, independently of the ledger. [Show] tells the story. Whoever
// calls it has started everything else: NATS, the history, the API and an executor.
package demo
