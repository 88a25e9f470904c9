//go:build unix

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// step is a block of commands of a page, and what it shows below them.
type step struct{ commands, shown string }

// reader follows a page as a newcomer does: a command after another, against dev.
type reader struct {
	dev      *dev
	folder   string
	run      string // the id that the page's $RUN has here
	incident string // the one that stands for the page's
}

func TestTheTutorialShowsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n```\n(.*?)```\n)?").FindAllStringSubmatch(readPage(t, "docs/tutorial/first-failure.md"), -1)
	if len(blocks) < 15 {
		t.Fatalf("%d blocks of commands were read: the test reads past them", len(blocks))
	}
	r := newReader(t, nil, "--no-samples")
	for _, b := range blocks {
		r.follow(t, step{quicker(b[1]), b[2]})
	}
}

func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```\n(\\$ carillon .*?)```").FindStringSubmatch(readPage(t, "README.md"))
	if block == nil {
		t.Fatal("the README shows no commands")
	}
	r := newReader(t, roomOnDisk(t))
	r.dev.Begin(t)
	for part := range strings.SplitSeq("\n"+block[1], "\n$ ") {
		if commands, shown, _ := strings.Cut(part, "\n"); commands != "" {
			r.follow(t, step{commands + "\n", shown})
		}
	}
}

// roomOnDisk returns an environment in which df reports a disk with room, because a sample fails
// where the disk is nearly full, and the page shows a machine where it is not.
func roomOnDisk(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	df := "#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted on\necho /dev/disk 1000 400 600 40% /\n"
	if err := os.WriteFile(filepath.Join(folder, "df"), []byte(df), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}
}

func newReader(t *testing.T, env []string, options ...string) *reader {
	t.Helper()
	d := newDev(t, env...)
	d.Command = append(d.Command, options...)
	return &reader{dev: d, folder: t.TempDir()}
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// quicker has jobs of a page fire more often than people can follow.
func quicker(commands string) string {
	return strings.Replace(commands, "schedule: {fixed_rate: 15s}", "schedule: {fixed_rate: 4s}\nmisfire: {policy: fire_once, grace: 1s}", 1)
}

// outage is how long the server is away after it was killed: some fires.
const outage = 12 * time.Second

func (r *reader) follow(t *testing.T, s step) {
	t.Helper()
	switch {
	case strings.Contains(s.commands, "carillon dev --no-samples --data"):
		r.dev.Begin(t)
		r.compare(t, s, r.dev.Said())
	case strings.HasPrefix(s.commands, "kill -9"):
		r.dev.Kill()
		killed := time.Now()
		processtest.Await(t, 2*outage, "let fires pass", func() error {
			if time.Since(killed) < outage {
				return errors.New("some are still to pass")
			}
			return nil
		})
	case strings.HasPrefix(s.commands, "rm -r"):
		r.dev.Interrupt(t)
	case regexp.MustCompile(`carillon (get|ledger|logs|search|audit-log) `).MatchString(s.commands):
		// What it shows may still be on its way.
		err := processtest.Within(processtest.Patience, func() error { return r.differ(s, r.shell(t, s.commands)) })
		if err != nil {
			t.Fatal(err)
		}
	default:
		r.compare(t, s, r.shell(t, s.commands))
	}
}

var (
	runPattern      = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	incidentPattern = regexp.MustCompile(`\b[0-9a-z]{22}\b`)
)

// shell runs commands with the ids that things have here, and returns what they print. Of a page's
// $RUN it takes the oldest run.
func (r *reader) shell(t *testing.T, commands string) string {
	t.Helper()
	commands = regexp.MustCompile(`(?m)^RUN=.*$`).ReplaceAllString(commands, "")
	commands = strings.ReplaceAll(incidentPattern.ReplaceAllString(commands, r.incident), "/tmp/", r.folder+"/")
	addresses := addressPattern.FindAllStringSubmatch(r.dev.Said(), -1)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", commands)
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(processtest.Program(t, "carillon"))+":"+os.Getenv("PATH"), "HOME="+r.folder, "RUN="+r.run,
		"CARILLON_SERVER=http://"+addresses[len(addresses)-1][1])
	out, _ := cmd.CombinedOutput() // some end with an exit code that tells of a failed run
	said := string(out)
	if ids := runPattern.FindAllString(said, -1); strings.Contains(commands, "get runs") && len(ids) > 0 {
		r.run = ids[len(ids)-1]
	}
	if id := incidentPattern.FindString(said); id != "" {
		r.incident = id
	}
	return said
}

func (r *reader) compare(t *testing.T, s step, said string) {
	t.Helper()
	if err := r.differ(s, said); err != nil {
		t.Fatal(err)
	}
}

// differ returns an error for a line that a page shows, and of whose shape none was printed.
func (r *reader) differ(s step, said string) error {
	said = strings.ReplaceAll(strings.ReplaceAll(said, r.dev.data, "/tmp/carillon-tutorial"), r.folder+"/", "/tmp/")
	said = regexp.MustCompile(` --server http://\S+`).ReplaceAllString(said, "") // it is not needed at the port of the pages
	printed := shapes(said)
	for _, line := range shapes(s.shown) {
		begin, _, cut := strings.Cut(line, "…")
		if !slices.ContainsFunc(printed, func(p string) bool { return p == line || cut && strings.HasPrefix(p, begin) }) {
			return errors.New("the page shows the line\n  " + line + "\nafter\n" + s.commands + "and the program printed\n" + said)
		}
	}
	return nil
}

// shapes returns the lines of a text without what differs each time: ids, times, amounts, blanks.
func shapes(text string) []string {
	if u, err := user.Current(); err == nil {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(u.Username)+`\b`).ReplaceAllString(text, "root")
	}
	for _, r := range []struct{ pattern, with string }{
		{runPattern.String(), "ID"},
		{incidentPattern.String(), "ID"},
		{`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`, "TIME"},
		{`\b(\d+(\.\d+)?(h|ms|m|s|µs))+`, "LONG"},
		{`\d+(\.\d+)?`, "N"},
		{`[ \t]+`, " "},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
