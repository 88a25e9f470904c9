package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// Exit codes. They are documented in the help of the program and in docs/reference/command-line.md.
const (
	ExitError       = 1 // all else
	ExitUsage       = 2 // the command line is wrong
	ExitNotFound    = 3 // there is no such job, run, calendar or attempt
	ExitConflict    = 4 // the thing is not in the state that the command needs
	ExitUnavailable = 5 // the server, or a part of the system, is away
	exitDenied      = 6 // nobody is signed in, or they may not
	ExitDiffers     = 7 // files and server differ, for those who ask
	// The outcomes of a run, for those who wait for one.
	ExitRunFailed    = 10
	exitRunTimedOut  = 11
	exitRunCancelled = 12
	exitRunLost      = 13
	exitRunNotDone   = 14 // skipped or missed
	exitInterrupted  = 130
)

const exitCodesHelp = `Exit codes: 0 done, 1 error, 2 wrong usage, 3 not found, 4 conflict, 5 server
unavailable, 6 not signed in or not allowed, 7 files and server differ ("apply
--dry-run --exit-code"), 130 interrupted. "run --wait" adds 10 failed, 11 timed
out, 12 cancelled, 13 lost, 14 skipped or missed.`

// exit is an error that chooses the exit code. Without err there is nothing left to
// say.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// ExitWith returns an error that ends the program with a code; without err there is nothing to
// say besides.
func ExitWith(code int, err error) error { return &exit{code, err} }

// Usage returns the error of a command line that is wrong.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return ExitWith(ExitUsage, err)
}

// exitCodeOf returns the exit code for what a command returned.
func exitCodeOf(err error) int {
	if chosen, ok := errors.AsType[*exit](err); ok {
		return chosen.code
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, job.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, job.ErrConflict):
		return ExitConflict
	case errors.Is(err, job.ErrUnavailable):
		return ExitUnavailable
	case errors.Is(err, client.ErrDenied):
		return exitDenied
	}
	return ExitError
}

// RunOutcome returns the error that makes the exit code tell how a run ended; nil
// when it succeeded.
func RunOutcome(s job.Status) error {
	switch s {
	case job.StatusSucceeded:
		return nil
	case job.StatusFailed:
		return ExitWith(ExitRunFailed, nil)
	case job.StatusTimedOut:
		return ExitWith(exitRunTimedOut, nil)
	case job.StatusCancelled:
		return ExitWith(exitRunCancelled, nil)
	case job.StatusLost:
		return ExitWith(exitRunLost, nil)
	case job.StatusSkipped, job.StatusMissed:
		return ExitWith(exitRunNotDone, nil)
	case job.StatusPending, job.StatusQueued, job.StatusRunning:
	}
	return fmt.Errorf("the run has not finished; it is %s", s)
}

// report tells a person what went wrong, and what to do where we know it.
func report(w io.Writer, cmd *cobra.Command, err error) {
	chosen, isExit := errors.AsType[*exit](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled), isExit && chosen.err == nil:
		return
	}
	_, _ = fmt.Fprintf(w, "carillon: %v\n", err)
	if isExit && chosen.code == ExitUsage {
		_, _ = fmt.Fprintf(w, "See \"%s --help\".\n", cmd.CommandPath())
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Code == "unauthenticated" && cmd.Name() != "login" {
		_, _ = fmt.Fprintf(w, "Sign in with \"carillon login\", or set a token with --token or %s.\n", TokenVariable)
	}
	if u, ok := errors.AsType[*client.UnreachableError](err); ok {
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			_, _ = fmt.Fprintf(w, "Set the CA that signed the server's certificate with --ca or %s.\n", CAVariable)
			return
		}
		if errors.Is(err, io.EOF) && strings.HasPrefix(u.Address, "http://") {
			_, _ = fmt.Fprintf(w, "If the server uses TLS, set its https:// address with --server or %s.\n", serverVariable)
			return
		}
		_, _ = fmt.Fprintf(w, "Start a server with \"carillon dev\", or set the address of a server with --server or %s.\n", serverVariable)
	}
}
