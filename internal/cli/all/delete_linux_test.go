package all_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/cli/job"
)

// typed returns a terminal at which somebody has typed text.
func typed(t *testing.T, text string) *os.File {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if _, err := keyboard.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return screen
}

func TestDeleteAsksAtATerminal(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/a\n1 created\n", "job: default/a\ntask: {shell: echo a}\n", "apply", "-f", "-")
	del := func(in *os.File, args ...string) (code int, said string) {
		t.Helper()
		var out, errOut strings.Builder
		code = cli.Execute(t.Context(), cli.NewRoot(job.Commands()...), append([]string{"delete", "--server", s.Server}, args...), in, &out, &errOut)
		return code, out.String() + errOut.String()
	}
	if code, said := del(typed(t, "n\n"), "default/a"); code != cli.ExitError || said != "delete 1 job? [y/N] carillon: nothing was changed\n" {
		t.Errorf("who says no: exit code %d: %s", code, said)
	}
	if code, said := del(typed(t, ""), "default/a", "--dry-run"); code != 0 || said != "default/a deleted (dry run)\n" {
		t.Errorf("a dry run: exit code %d: %s", code, said)
	}
	if code, said := del(typed(t, "y\n"), "default/a"); code != 0 || said != "default/a deleted\ndelete 1 job? [y/N] " {
		t.Errorf("who says yes: exit code %d: %s", code, said)
	}
	if code, said := del(typed(t, "n\n"), "--calendar", "none"); code != cli.ExitError || !strings.HasPrefix(said, "delete 1 calendar? ") {
		t.Errorf("of a calendar: exit code %d: %s", code, said)
	}
}
