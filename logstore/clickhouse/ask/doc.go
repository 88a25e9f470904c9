// Package ask is SQL that people ask the history in ClickHouse: which statements are taken,
// the user of the server who runs them, and how the rows are given back.
package ask
