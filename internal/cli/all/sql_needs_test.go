package all_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestSQLSaysWhatItNeeds(t *testing.T) {
	s := clitest.New(t) // with SQLite
	s.WantError(cli.ExitConflict, "carillon: the log store has no SQL; that needs ClickHouse", "", "sql", "SELECT 1")
	s.WantError(cli.ExitUsage, "carillon: give a query, or a file", "", "sql")
	s.WantError(cli.ExitUsage, "carillon: --format must be", "", "sql", "SELECT 1", "--format", "xml")
	s.WantError(cli.ExitUsage, "carillon: read query", "", "sql", "-f", "/no/such/file")
}
