package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

// renamed are the old names of commands, and what they are called now. An old name that is
// still a command of another kind has a pattern of its own for what is meant by it.
var renamed = []struct{ old, now, pattern string }{
	{old: "audit", now: "ledger verify", pattern: `audit(?:[^\w-]|$)`},
	{old: "ledger JOB", now: "ledger show", pattern: `ledger (?:JOB|[a-z0-9-]+/)`},
	{old: "changes", now: "audit-log"},
	{old: "restore JOB", now: "rollback", pattern: `restore (?:JOB|[a-z0-9-]+/)`},
	{old: "retry", now: "rerun"},
	{old: "report fates", now: "report outcomes"},
	{old: "alert list", now: "get incidents"},
	{old: "alert show", now: "get incident"},
	{old: "alert deliveries", now: "get deliveries"},
	{old: "alert rules", now: "get alert-rules"},
	{old: "alert channels", now: "get channels"},
	{old: "alert silences", now: "get silences"},
	{old: "credential list", now: "get credentials"},
	{old: "secret list", now: "get secrets"},
	{old: "token list", now: "get tokens"},
	{old: "user list", now: "get users"},
	{old: "session list", now: "get sessions"},
	{old: "context list", now: "get contexts"},
	{old: "dead-letters", now: "dead-letter"},
	{old: "dead-letters list", now: "get dead-letters"},
	{old: "dead-letters show", now: "get dead-letter"},
	{old: "retention get", now: "get retention"},
}

// renamedFlags are the old names of flags: of the command by its new name.
var renamedFlags = []struct{ command, old, now string }{
	{"ledger show", "fate", "outcome"},
	{"get runs", "retry-of", "rerun-of"},
}

func TestTheOldNamesOfCommandsAreRefused(t *testing.T) {
	for _, r := range renamed {
		root := cli.NewRoot(commands()...)
		if cmd, rest, err := root.Find(strings.Fields(r.now)); err != nil || len(rest) > 0 || cmd.CommandPath() != "carillon "+r.now {
			t.Errorf("there is no command %q", r.now)
		}
		var out strings.Builder
		code := cli.Execute(t.Context(), cli.NewRoot(commands()...), strings.Fields(r.old), strings.NewReader(""), &out, &out)
		if code != cli.ExitUsage {
			t.Errorf("%q ends with code %d: %s", r.old, code, out.String())
		}
		if r.pattern == "" && !strings.Contains(out.String(), "unknown command") {
			t.Errorf("%q is not refused as unknown: %s", r.old, out.String())
		}
	}
	for _, r := range renamedFlags {
		cmd, _, err := cli.NewRoot(commands()...).Find(strings.Fields(r.command))
		if err != nil || cmd.Flags().Lookup(r.old) != nil || cmd.Flags().Lookup(r.now) == nil {
			t.Errorf("carillon %s has not --%s in the place of --%s", r.command, r.now, r.old)
		}
	}
}

// oldName finds what of a text calls a command or a flag by an old name.
func oldName() *regexp.Regexp {
	var all []string
	for _, r := range renamed {
		p := r.pattern
		if p == "" {
			p = regexp.QuoteMeta(r.old) + `\b`
		}
		all = append(all, `\bcarillon `+p)
	}
	for _, r := range renamedFlags {
		all = append(all, `--`+r.old+`\b`)
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}

func TestNoTextUsesAnOldName(t *testing.T) {
	old := oldName()
	check := func(where, text string) {
		for i, line := range strings.Split(text, "\n") {
			if found := old.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is an old name", where, i+1, found)
			}
		}
	}
	texts := 0
	for _, root := range []string{"../../docs", "../../deploy", "../../examples", "../../README.md", ".", "../../internal", "../../alert", "../../bus", "../../frontend/src"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			known := slices.Contains([]string{".md", ".go", ".yaml", ".sh", ".example", ".service", ".ts", ".tsx", ".star", ""}, filepath.Ext(path))
			if err != nil || d.IsDir() || !known || filepath.Base(path) == "names_test.go" {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil {
				check(path, string(data))
				texts++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 300 {
		t.Errorf("only %d files were read", texts)
	}
	var helps func(*cobra.Command)
	helps = func(cmd *cobra.Command) {
		check(cmd.CommandPath(), strings.Join([]string{cmd.Use, cmd.Short, cmd.Long, cmd.Example}, "\n"))
		cmd.Flags().VisitAll(func(f *pflag.Flag) { check(cmd.CommandPath()+" --"+f.Name, f.Usage) })
		for _, sub := range cmd.Commands() {
			helps(sub)
		}
	}
	helps(cli.NewRoot(commands()...))
}
