package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli"
)

func everyCommand() []*cobra.Command {
	root := cli.NewRoot(commands()...)
	all := []*cobra.Command{root}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
	}
	return all
}

func TestEveryCommandShowsHowItIsUsed(t *testing.T) {
	for _, cmd := range everyCommand() {
		if cmd.Parent() != nil && cmd.Parent().Name() == "bench" {
			continue // its own examples stand for them
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || !strings.Contains(cmd.Example, "carillon ") {
			t.Errorf("%s: short %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	var out strings.Builder
	if code := cli.Execute(t.Context(), cli.NewRoot(commands()...), []string{"--version"}, strings.NewReader(""), &out, &out); code != 0 || out.String() != "carillon "+build.Version()+"\n" {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}
