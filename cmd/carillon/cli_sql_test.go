package main

import (
	"testing"

	"carillon/internal/cli"
)

func TestSQLSaysWhatItNeeds(t *testing.T) {
	s := newTerminal(t) // with SQLite
	s.wantError(cli.ExitConflict, "carillon: the log store has no SQL; that needs ClickHouse", "", "sql", "SELECT 1")
	s.wantError(cli.ExitUsage, "carillon: give a query, or a file", "", "sql")
	s.wantError(cli.ExitUsage, "carillon: --format must be", "", "sql", "SELECT 1", "--format", "xml")
	s.wantError(cli.ExitUsage, "carillon: read query", "", "sql", "-f", "/no/such/file")
}
