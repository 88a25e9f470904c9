package clitest

import (
	"bufio"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/all"
	"github.com/carillon-scheduler/carillon/internal/node"
)

// Terminal is a person at one: commands, and a server that "carillon dev" runs.
type Terminal struct {
	t *testing.T
	// Server is the address of the server.
	Server string
	// Zone is where the person is; nil is UTC.
	Zone *time.Location
}

// Main runs the tests of a package, in a locale that every machine has: tasks inherit it, and a shell
// warns of another.
func Main(m *testing.M) {
	_ = os.Setenv("LC_ALL", "C")
	os.Exit(m.Run())
}

// New starts "carillon dev" in this process, on free ports and a new directory. The test runs beside others
// from here on.
func New(t *testing.T) *Terminal {
	t.Helper()
	t.Parallel()
	return Alone(t)
}

// Alone is New for a test that runs beside no other, since it changes the environment.
func Alone(t *testing.T) *Terminal {
	t.Helper()
	data := t.TempDir() // removed after the cleanup below, which ends the server
	ctx, stop := context.WithCancel(context.Background())
	said, says := io.Pipe()
	ended := make(chan int, 1)
	var log strings.Builder
	go func() {
		args := []string{"dev", "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0", "--data", data, "--no-samples", "--alert-allow", "127.0.0.1"}
		code := cli.Execute(ctx, cli.NewRoot(node.Commands()...), args, strings.NewReader(""), says, &log)
		_ = says.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("carillon dev ended with code %d: %s", code, log.String())
		}
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if address := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); address != "" {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return &Terminal{t: t, Server: address}
		}
	}
	t.Fatalf("carillon dev did not say where it listens: %s", log.String())
	return nil
}

// Run runs a command line and returns what it printed.
func (s *Terminal) Run(stdin string, args ...string) (code int, out, errOut string) {
	s.t.Helper()
	var o, e strings.Builder
	code = cli.Execute(cli.InZone(s.t.Context(), s.Zone), cli.NewRoot(all.Commands()...), append(args, "--server", s.Server), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// Serve runs a command line that reads and writes until its input ends, also after the test.
func (s *Terminal) Serve(in io.Reader, out io.Writer, args ...string) (code int, errOut string) {
	var e strings.Builder
	code = cli.Execute(context.WithoutCancel(s.t.Context()), cli.NewRoot(all.Commands()...), append(args, "--server", s.Server), in, out, &e)
	return code, e.String()
}

// Want runs a command line that succeeds and checks its output.
func (s *Terminal) Want(out, stdin string, args ...string) {
	s.t.Helper()
	got, o, e := s.Run(stdin, args...)
	if got != 0 || o != out {
		s.t.Errorf("carillon %s\nexit code %d\n%s%s", strings.Join(args, " "), got, e, cmp.Diff(out, o))
	}
}

// WantError checks exit code and error.
func (s *Terminal) WantError(code int, text, stdin string, args ...string) {
	s.t.Helper()
	got, o, e := s.Run(stdin, args...)
	if got != code || !strings.HasPrefix(e, text) {
		s.t.Errorf("carillon %s\nexit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, o, cmp.Diff(text, e))
	}
}

// TwoJobs are documents of a calendar, a job that succeeds and one that fails.
const TwoJobs = `calendar: holidays
dates: [12-25]
---
job: default/hello
schedule: {cron: "0 3 1 1 *", except: [holidays]}
task:
  shell: echo "hello $CARILLON_PARAMS"; echo bye >&2
---
job: default/broken
task: {shell: "echo oh; exit 3"}
`

// Offline runs a command line that asks no server.
func Offline(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e strings.Builder
	code = cli.Execute(t.Context(), cli.NewRoot(all.Commands()...), args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}
