package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

// written finds command lines of ours in a page: between backquotes, or on a line of a block,
// where a prompt or variables may come first, and lines that end in a backslash go on.
var written = regexp.MustCompile("(?m)(?:`|^ *(?:\\$ )?(?:[A-Z_]+=\\S+ )*)carillon ([a-z](?:\\\\\n|[^`\n])*)")

// TestThePagesNameCommandsAndFlagsThatThereAre holds what the documentation tells people
// to type against what the program knows.
func TestThePagesNameCommandsAndFlagsThatThereAre(t *testing.T) {
	var pages []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "adr" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir // decisions name commands as they were then
		case strings.HasSuffix(path, ".md") && d.Name() != "CHANGELOG.md":
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	root := cli.NewRoot(commands()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	lines, flags := 0, 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range written.FindAllStringSubmatch(string(data), -1) {
			line, _, _ := strings.Cut(m[1], " #")
			line, _, _ = strings.Cut(line, " -- ") // what follows is another program's
			words := strings.Fields(line)
			cmd, rest := commandNamed(root, words)
			if cmd.HasSubCommands() && !cmd.Runnable() && len(rest) > 0 && regexp.MustCompile(`^[a-z-]+$`).MatchString(rest[0]) {
				t.Errorf("%s: %q has no command %s", page, m[0], rest[0])
				continue
			}
			lines++
			for _, w := range rest {
				if len(w) == 2 && w[0] == '-' && w[1] != '-' && cmd.Flags().ShorthandLookup(w[1:]) == nil {
					t.Errorf("%s: %q has no flag %s", page, m[0], w)
				}
				name, isFlag := strings.CutPrefix(w, "--")
				if name, _, _ = strings.Cut(name, "="); !isFlag || name == "" {
					continue
				}
				if flags++; cmd.Flags().Lookup(strings.Trim(name, ",;:)")) == nil {
					t.Errorf("%s: %q has no flag --%s", page, m[0], name)
				}
			}
		}
	}
	if lines < 300 || flags < 200 {
		t.Errorf("only %d commands with %d flags were found: the test reads past them", lines, flags)
	}
}

// commandNamed returns the command that the first words name, and the words behind.
func commandNamed(cmd *cobra.Command, words []string) (found *cobra.Command, rest []string) {
	for len(words) > 0 {
		next := cmd
		for _, sub := range cmd.Commands() {
			if sub.Name() == words[0] {
				next = sub
			}
		}
		if next == cmd {
			break
		}
		cmd, words = next, words[1:]
	}
	return cmd, words
}
