package main

import (
	"testing"
)

func TestSQLSaysWhatItNeeds(t *testing.T) {
	s := newTerminal(t) // with SQLite
	s.wantError(exitConflict, "carillon: the log store has no SQL; that needs ClickHouse", "", "sql", "SELECT 1")
	s.wantError(exitUsage, "carillon: give a query, or a file", "", "sql")
	s.wantError(exitUsage, "carillon: --format must be", "", "sql", "SELECT 1", "--format", "xml")
	s.wantError(exitUsage, "carillon: read query", "", "sql", "-f", "/no/such/file")
}
