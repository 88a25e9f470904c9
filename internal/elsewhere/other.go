//go:build !unix

package elsewhere

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// shellCommand returns the command that runs a line.
func shellCommand(line string) *exec.Cmd {
	shell := cmp.Or(os.Getenv("COMSPEC"), `C:\Windows\System32\cmd.exe`)
	cmd := &exec.Cmd{Path: shell, Args: []string{shell, "/S", "/C", line}}
	setLine(cmd, fmt.Sprintf(`"%s" /S /C "%s"`, shell, line))
	return cmd
}

// isScript and withShell: here no program is a script.
func isScript(error) bool { return false }

func withShell(cmd *exec.Cmd) *exec.Cmd { return cmd }

func codeOf(state *os.ProcessState) (code int, message string) { return state.ExitCode(), "" }

// signals are those that this process catches. The command gets what is typed itself.
type signals struct{}

func catchSignals() *signals {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	return &signals{}
}

func (*signals) passTo(*os.Process) (stop func()) { return func() {} }
