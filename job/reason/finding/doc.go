// Package finding is the part of the table of package reason that tells what became of fires: what the ledger finds, why
// a step still waits for runs, and why a job ran or not at some time. Executors do not link it.
package finding
