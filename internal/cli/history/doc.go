// Package history has the commands that read what was and what will be: the ledger, the audit
// log, reports, searches, SQL, and the fires ahead.
package history
