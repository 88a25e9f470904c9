package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// search looks for seeds of nkeys wherever a task may look, and prints what it finds.
const search = `
p='SUA[A-Z2-7]{55}'
look() { grep -aoE "$p" 2>/dev/null | sed "s|^|FOUND in $1: |"; }
env | look env
for f in /proc/$PPID/environ /proc/$PPID/cmdline; do cat $f 2>/dev/null | look $f; done
tr '\0' '\n' < /proc/$PPID/cmdline | while read a; do [ -f "$a" ] && cat "$a" 2>/dev/null | look "$a"; done
for f in /proc/$PPID/fd/* /proc/self/fd/*; do [ -f "$f" ] && cat "$f" 2>/dev/null | look "$f"; done
grep -raoE "$p" "$SEARCHED" 2>/dev/null | sed 's|^|FOUND in |'
while read range perms rest; do
  case $perms in rw*) ;; *) continue;; esac
  from=$((0x${range%-*} / 4096)); to=$((0x${range#*-} / 4096))
  dd if=/proc/$PPID/mem bs=4096 skip=$from count=$((to - from)) 2>/dev/null | look "memory $range"
done < /proc/$PPID/maps
echo searched
`

// The set-up is that of deploy/systemd: the seed is root's, and comes on standard input.
func TestATaskFindsNoSeedInTheRecommendedSetUp(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	place, err := os.MkdirTemp("", "carillon-hidden-") //nolint:usetesting // the test's own folder is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	if err := os.Chmod(place, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(place, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	binary, ca := filepath.Join(place, "carillon"), filepath.Join(home, "ca.pem")
	for to, from := range map[string]string{binary: processtest.Program(t, "carillon"), ca: g.cert} {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	jobs := g.write("jobs.yaml", "job: billing/search\ntask:\n  env: {SEARCHED: "+home+"}\n  shell: |\n"+indent(search))
	g.ann.run(0, "", "apply -f "+jobs)
	_, file := g.credential("billing", "web1")
	seed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	find := func(stdin, credential string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary, "executor", "-g", "billing", "--nats", g.url, "--nats-ca", ca, "--credential", credential)
		cmd.Dir, cmd.Stderr = home, io.Discard
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if os.Getuid() == 0 { // whom nothing is hidden from
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		}
		if stdin != "" {
			in, err := os.Open(stdin)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			cmd.Stdin = in
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		g.ann.run(0, "", "run billing/search --wait", "succeeded")
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
		logs := g.ann.run(0, "", "logs billing/search")
		if !strings.Contains(logs, "searched") {
			t.Fatalf("the task did not get to its end: %s", logs)
		}
		return logs
	}
	if found := find(file, "-"); strings.Contains(found, "FOUND") || strings.Contains(found, strings.TrimSpace(string(seed))) {
		t.Errorf("a task finds a seed: %s", found)
	}
	readable := filepath.Join(home, "readable.seed")
	if err := os.WriteFile(readable, seed, 0o644); err != nil {
		t.Fatal(err)
	}
	if found := find("", readable); !strings.Contains(found, "FOUND") {
		t.Errorf("the search is none: it does not find a seed in a file that it may read: %s", found)
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}
