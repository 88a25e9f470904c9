package xxlstandin

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// interpreters run the scripts that an admin sends.
var interpreters = map[string]struct{ program, suffix string }{
	"GLUE_SHELL":  {"bash", ".sh"},
	"GLUE_PYTHON": {"python3", ".py"},
}

// script returns what runs the source that comes with t.
func script(t Run) (Handler, error) {
	how, ok := interpreters[t.Glue]
	if !ok {
		return nil, fmt.Errorf("glueType[%s] is not valid.", t.Glue) //nolint:revive,staticcheck // the other's words
	}
	return func(ctx context.Context, r Run, log func(string)) (string, error) {
		dir, err := os.MkdirTemp("", "glue-")
		if err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		file := filepath.Join(dir, strconv.Itoa(int(t.JobID))+how.suffix)
		if err := os.WriteFile(file, []byte(t.Source), 0o600); err != nil {
			return "", err
		}
		cmd := exec.CommandContext(ctx, how.program, file, r.Params, strconv.Itoa(r.Index), strconv.Itoa(r.Total)) //nolint:gosec // that is what it is for
		out, err := cmd.StdoutPipe()
		if err != nil {
			return "", err
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			return "", err
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			log(lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			return "", fmt.Errorf("script exit value(%d) is failed", cmd.ProcessState.ExitCode())
		}
		return "", nil
	}, nil
}
