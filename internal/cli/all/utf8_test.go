package all_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

// In a request the bytes would become other characters, without a word.
func TestFlagsThatAreNotUTF8AreRefused(t *testing.T) {
	s := clitest.New(t)
	const latin1 = "caf\xe9"
	f := func(flag string, args ...string) {
		t.Helper()
		s.WantError(cli.ExitUsage, "carillon: "+flag+" is not UTF-8", "", append(args, flag, latin1)...)
	}
	f("--note", "pause", "--all")
	f("--note", "group", "pause", "default")
	f("--name", "user", "create", "ann", "--role", "viewer", "--no-link")
	f("--params", "run", "default/quiet")
}
