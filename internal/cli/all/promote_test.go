package all_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAJobIsPromotedToTheServerOfAnotherContext(t *testing.T) {
	t.Setenv("CARILLON_CONFIG", filepath.Join(t.TempDir(), "contexts.json"))
	staging, production := clitest.Alone(t), clitest.Alone(t)
	c, err := cli.ReadContexts()
	if err != nil {
		t.Fatal(err)
	}
	c.Put(cli.SignedIn{Name: "production", Server: production.Server})
	c.Put(cli.SignedIn{Name: "staging", Server: staging.Server})
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	run := func(s *clitest.Terminal, code int, stdin string, want string, args ...string) {
		t.Helper()
		if got, out, errOut := s.Run(stdin, args...); got != code || !strings.Contains(out+errOut, want) {
			t.Errorf("%v ended with %d, want %d and %q:\n%s%s", args, got, code, want, out, errOut)
		}
	}
	run(staging, 0, "job: ops/hello\ntask: {shell: echo hello}\n---\njob: ops/parent\ntask: {shell: 'true'}\nchildren: [ops/hello]\n", "created", "apply", "-f", "-")

	run(staging, cli.ExitDiffers, "", "created", "promote", "ops/hello", "--to", "production", "--dry-run", "--exit-code")
	run(production, cli.ExitNotFound, "", "ops/hello", "get", "job", "ops/hello")
	run(staging, 0, "", "names job ops/hello, which does not exist", "promote", "ops/parent", "--to", "production")
	run(staging, 0, "", "1 created, 1 unchanged", "promote", "ops/parent", "ops/hello", "--to", "production")
	run(production, 0, "", "promoted from version 1 at "+staging.Server, "get", "job", "ops/hello", "-o", "yaml")
	run(staging, 0, "", "", "pause", "ops/hello")
	run(staging, 0, "", "unchanged", "promote", "ops/hello", "--to", "production", "--dry-run", "--exit-code")

	run(staging, cli.ExitUsage, "", `there is no context "elsewhere"`, "promote", "ops/hello", "--to", "elsewhere")
	run(staging, cli.ExitUsage, "", "is of the same server", "promote", "ops/hello", "--to", "staging")
	run(staging, cli.ExitUsage, "", "--to", "promote", "ops/hello")
	run(staging, cli.ExitNotFound, "", "nothing was changed", "promote", "ops/none", "--to", "production")
}
