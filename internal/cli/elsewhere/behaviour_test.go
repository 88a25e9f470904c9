//go:build unix

package elsewhere_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/elsewhere"
)

func TestSignalsReachTheCommandAndItsExitCodeIsTheirs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGQUIT} {
		cmd := h.command("ops/x", "--run", fmt.Sprint("sig-", int(sig)), "--", "sh", "-c", "echo ready; exec sleep 600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(sig) {
			t.Errorf("%v: %v", sig, cmd.ProcessState)
		}
	}
	for _, end := range s.all("end") {
		sig := strings.TrimPrefix(end.values["run"], "sig-")
		if !strings.HasPrefix(end.values["message"], "ended by signal "+sig+" (") {
			t.Errorf("end %+v", end)
		}
	}
	if n := len(s.all("end")); n != 6 {
		t.Errorf("%d ends", n)
	}
}

func TestACommandThatHandlesASignalEndsAsItWants(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	cmd := h.command("ops/x", "-c", "trap 'echo bye; exit 6' TERM; echo ready; while :; do sleep 0.05; done")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 6 || string(rest) != "bye\n" {
		t.Errorf("%v, %q", cmd.ProcessState, rest)
	}
	if end := s.end(t); end.values["exit"] != "6" || end.output != "ready\nbye\n" {
		t.Errorf("end %+v", end)
	}
}

func TestASignalThatIsIgnoredStaysSo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	cmd := h.command("ops/x", "--", "sh", "-c", "kill -HUP $$; kill -HUP $PPID; echo alive")
	cmd.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh"}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = "/bin/sh"
	if out, err := cmd.Output(); err != nil || string(out) != "alive\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestTheDeathOfTheWrapperDoesNotEndTheCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	gate, done := filepath.Join(h.dir, "gate"), filepath.Join(h.dir, "done")
	cmd := h.command("ops/x", "-c", "echo ready; until test -e "+gate+"; do sleep 0.01; done; echo still here && echo well > "+done)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	lines := bufio.NewReader(read)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines) // until the reader has ended
	if well, _ := os.ReadFile(done); err != nil || string(rest) != "still here\n" || string(well) != "well\n" {
		t.Errorf("%q, %q, %v", rest, well, err)
	}
	if ends := s.all("end"); len(ends) != 0 {
		t.Errorf("ends %+v", ends)
	}
}

func TestAChildThatKeepsThePipeDoesNotKeepTheWrapper(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	gate := filepath.Join(h.dir, "gate")
	cmd := h.command("ops/x", "-c", "(until test -e "+gate+"; do sleep 0.01; done; echo late; echo later) & echo early; exit 3")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 { // it would wait for the gate
		t.Error(cmd.ProcessState)
	}
	if end := s.end(t); end.output != "early\n" {
		t.Errorf("end %+v", end)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(read); err != nil || string(out) != "early\nlate\nlater\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAReaderThatGoesAwayEndsTheCommandAsItWouldWithout(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `{ "$0" watch ops/x -- yes; echo $? >&2; } | head -n 1`, os.Args[0])
	cmd.Env = h.env
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil || out.String() != "y\n" || errOut.String() != "141\n" {
		t.Errorf("%v: %q, %q", err, out.String(), errOut.String())
	}
}

func TestClosedStreamsDoNotMatter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" watch ops/x -- sh -c 'cat; exit 8' <&- >&- 2>&-`, os.Args[0])
	cmd.Env = h.env
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 8 {
		t.Error(err)
	}
	s.end(t)
}

func TestAllThatTheCommandInheritsItHas(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	// A file that is no standard stream, the input, the folder and the mask of modes.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `umask 027; "$0" watch ops/x -- sh -c 'cat; echo to seven >&7; pwd; umask' 7>seven`, os.Args[0])
	cmd.Env, cmd.Dir, cmd.Stdin = h.env, h.dir, strings.NewReader("in\n")
	out, err := cmd.Output()
	if want := "in\n" + h.dir + "\n0027\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "seven")); err != nil || string(text) != "to seven\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestStreamsThatAreOneFileKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	out, err := h.command("ops/x", "-c", "i=0; while test $i -lt 500; do echo out $i; echo err $i >&2; i=$((i+1)); done").CombinedOutput()
	var want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if err != nil || string(out) != want.String() || s.end(t).output != want.String() {
		t.Errorf("%v: %.100q", err, out)
	}
}

func TestAHundredMegabytesArePassedOn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	const line = `i=0; while test $i -lt 100; do head -c 1000000 "$0"; i=$((i+1)); done; printf end`
	program, err := os.ReadFile(os.Args[0])
	if err != nil || len(program) < 1000000 {
		t.Fatal(err)
	}
	cmd := h.command("ops/x", "--", "sh", "-c", line, os.Args[0])
	got, want := sha256.New(), sha256.New()
	for range 100 {
		_, _ = want.Write(program[:1000000])
	}
	_, _ = want.Write([]byte("end"))
	cmd.Stdout = got
	if err := cmd.Run(); err != nil || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("the bytes are others: %v", err)
	}
	if sent := s.end(t).output; !strings.HasSuffix(sent, "end") || len(sent) > 64<<10 {
		t.Errorf("%d bytes are sent", len(sent))
	}
}

func TestNobodyReadsWhatIsPassedOn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// As much as both pipes hold: the command ends, but not all can be passed on.
	cmd := h.command("ops/x", "--patience", "2s", "--", "sh", "-c", `head -c 120000 /dev/zero | tr '\0' x`)
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if sent := s.end(t).output; len(sent) < 60<<10 || len(sent) > 64<<10 {
		t.Errorf("%d bytes are sent", len(sent))
	}
	if all, err := io.ReadAll(read); err != nil || len(all) != 120000 {
		t.Errorf("%d bytes are passed on, %v", len(all), err)
	}
}

// BenchmarkCommand compares a command alone with the same command in a wrapper whose server answers at once.
func BenchmarkCommand(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ping":"0123456789abcdef","job":"ops/x"}`)
	}))
	defer s.Close()
	dir := b.TempDir()
	for name, command := range map[string][]string{
		"alone":   {"echo", "x"},
		"wrapped": {os.Args[0], elsewhere.Name, "ops/x", "--server", s.URL, "--token", pingToken, "--", "echo", "x"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
				if out, err := cmd.Output(); err != nil || string(out) != "x\n" {
					b.Fatalf("%q, %v", out, err)
				}
			}
		})
	}
}
