package elsewhere_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns both ends of a new one.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	return master, slave
}

func TestATerminalIsNotTouchedAndItsSignalsReachTheCommandOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	f := func(sent string, flags ...string) {
		t.Helper()
		before := len(s.all("end"))
		master, slave := terminal(t)
		args := append(append([]string{"ops/x"}, flags...), "-c", "n=0; trap 'n=$((n+1))' INT; test -t 1 && echo terminal; echo ready; until test $n -gt 0; do sleep 0.05; done; sleep 0.3; echo $n; exit 4")
		cmd := h.command(args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = slave.Close()
		lines := bufio.NewReader(master)
		var seen strings.Builder
		for !strings.HasSuffix(seen.String(), "ready\r\n") {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(seen.String(), err)
			}
			seen.WriteString(line)
		}
		if _, err := master.WriteString("\x03"); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines) // ends with an error: the terminal is gone
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 4 || !strings.HasSuffix(string(rest), "1\r\n") || strings.Contains(seen.String(), "terminal") != (sent == "") {
			t.Errorf("%q: exit code %d, %q, %q", flags, code, seen.String(), rest)
		}
		if ends := s.all("end"); len(ends) != before+1 || ends[before].output != sent {
			t.Errorf("%q: ends %+v", flags, ends[before:])
		}
	}
	f("")
	f("ready\n1\n", "--output")
	f("", "--no-output")
}
