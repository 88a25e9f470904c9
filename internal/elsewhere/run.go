package elsewhere

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/output"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/job"
)

// The variables of the environment.
const (
	TokenVariable = "CARILLON_WATCH_TOKEN" // the command does not get it
	RunVariable   = "CARILLON_WATCH_RUN"   // the command gets the run key by it
)

// DefaultPatience is how long the end of a command waits for the server.
const DefaultPatience = 10 * time.Second

// Exit codes of commands that could not be started, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Options say what to run, and how to report it.
type Options struct {
	Job job.Name
	// Args are a program and its arguments. Without them, Line is run by the shell, as cron does.
	Args []string
	Line string
	// Run is the run key. Defaults to a random one.
	Run string
	// Patience bounds how long the end of the command waits for the server.
	Patience time.Duration
	// Force reads the output even of a terminal, NoOutput none.
	Force, NoOutput bool
	// Mask is a file. Each of its lines is replaced in the output that is sent.
	Mask string
	// Access is what flags said about the server.
	Access Access
	// Problem is what is wrong with the command line. The command is run, and nothing is reported.
	Problem error
}

// Run runs a command and reports it. It returns the exit code of the command: 128 and the number of a signal
// that ended it, 127 if there is no such program, 126 if it cannot be run.
func Run(ctx context.Context, o Options) int {
	caught := catchSignals()
	if o.Run == "" {
		o.Run = ping.Random()
	}
	r := newReporter(o)
	read := r.read(ctx)
	began := now()
	process, err := start(o, read)
	read.Started()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "carillon watch:", err)
		code := exitCodeOf(err)
		r.end(ctx, end{code: code, message: err.Error(), at: now()}, read)
		return code
	}
	passed := caught.passTo(process)
	begun := r.begin(ctx, began)
	code, message := wait(process)
	ended := end{code: code, message: message, took: began.elapsed(), at: now()}
	passed()
	begun()
	r.end(ctx, ended, read)
	return code
}

// start starts the command with all that this process has, but for the token.
func start(o Options, read *output.Reader) (*os.Process, error) {
	cmd, err := command(o)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, read.Stdout, read.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, TokenVariable+"=") || strings.HasPrefix(v, RunVariable+"=")
	})
	cmd.Env = append(cmd.Env, RunVariable+"="+o.Run)
	if err = cmd.Start(); isScript(err) {
		cmd = withShell(cmd)
		err = cmd.Start()
	}
	if err != nil {
		return nil, startError{cmd.Path, err}
	}
	return cmd.Process, nil
}

// command returns the command that the options name.
func command(o Options) (*exec.Cmd, error) {
	if len(o.Args) == 0 {
		return shellCommand(o.Line), nil
	}
	path, err := exec.LookPath(o.Args[0])
	if path == "" {
		if inPath(o.Args[0]) {
			err = fs.ErrPermission
		}
		return nil, startError{o.Args[0], err}
	}
	return &exec.Cmd{Path: path, Args: o.Args}, nil // also one of the working directory, if PATH has it
}

// inPath reports whether a folder of PATH has a file of a name, which is no program if LookPath passes over it.
func inPath(name string) bool {
	return filepath.Base(name) == name && slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// startError is the error of a command that could not be started.
type startError struct {
	program string
	err     error
}

func (e startError) Error() string { return fmt.Sprintf("start %s: %v", e.program, cause(e.err)) }
func (e startError) Unwrap() error { return e.err }
