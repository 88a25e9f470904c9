package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"carillon/job"
)

func allCommands() []*cobra.Command {
	root := newRoot(newDevCommand(), newServerCommand(), newExecutorCommand(), newBenchCommand(),
		newApplyCommand(), newGetCommand(), newRunCommand(), newRerunCommand(), newMarkCommand(), newLogsCommand(), newCancelCommand(),
		newPauseCommand(), newResumeCommand(), newSkipCommand(), newDeleteCommand(), newNextCommand(), newImportCommand(), newStarlarkCommand(), newSecretCommand(), newRollbackCommand(),
		newLoginCommand(), newLogoutCommand(), newContextCommand(), newWhoamiCommand(), newUserCommand(), newTokenCommand(), newAuditLogCommand())
	all := []*cobra.Command{root}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
	}
	return all
}

func TestEveryCommandShowsHowItIsUsed(t *testing.T) {
	for _, cmd := range allCommands() {
		if cmd.Parent() != nil && cmd.Parent().Name() == "bench" {
			continue // its own examples stand for them
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || !strings.Contains(cmd.Example, "carillon ") {
			t.Errorf("%s: short %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
	}
}

func TestEveryStatusHasAnExitCodeOrIsNoEnd(t *testing.T) {
	var codes []int
	for _, s := range job.Statuses {
		code := exitCodeOf(runOutcome(s))
		if s.Final() != (code != exitError) {
			t.Errorf("%s: exit code %d", s, code)
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	if got := len(slices.Compact(codes)); got != 7 { // 0, 1 for no end, and five; two statuses share one
		t.Errorf("%d different exit codes", got)
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	var out strings.Builder
	if code := execute(t.Context(), newRoot(commands()...), []string{"--version"}, strings.NewReader(""), &out, &out); code != 0 || out.String() != "carillon "+version()+"\n" {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

func TestNothingIsCutInAFile(t *testing.T) {
	long := strings.Repeat("long ", 100)
	draw := func(t *table) { t.row("x", t.cell(long, noteWidth)); t.line(t.shortJSON(long)) }
	var file strings.Builder
	if err := asTable.show(&file, nil, draw); err != nil || strings.Contains(file.String(), "…") || strings.Count(file.String(), "long") != 200 {
		t.Errorf("a file has (%v)\n%s", err, file.String())
	}
	var shown strings.Builder
	if err := asTable.show(&screen{file: &shown}, nil, draw); err != nil || strings.Count(shown.String(), "…") != 2 {
		t.Errorf("a terminal has (%v)\n%s", err, shown.String())
	}
}
