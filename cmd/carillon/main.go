// Command carillon is the whole system in one binary: the servers, the executor for
// jobs that need no program of your own, and the client with which people and scripts use them.
//
// Each command is a file: dev.go, server.go, executor.go and bench.go run something,
// next.go computes, and the others ask a server over its HTTP API (remote.go).
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"carillon/internal/chserver"
)

// gcPercent is GOGC's default in this program. What lives long, the jobs, takes some 200
// bytes each, so memory is cheaper than the tenth of the CPU that collecting it twice as
// often costs a busy server.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	chserver.ServeIfAsked() // in the copy that dev starts as its log store
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(execute(ctx, newRoot(commands()...), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// commands returns all that the program can do.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newDevCommand(),
		newServerCommand(),
		newExecutorCommand(),
		newBenchCommand(),

		newApplyCommand(),
		newGetCommand(),
		newRunCommand(),
		newRerunCommand(),
		newMarkCommand(),
		newLogsCommand(),
		newWaitCommand(),
		newSearchCommand(),
		newTopCommand(),
		newReportCommand(),
		newEventsCommand(),
		newSQLCommand(),
		newBackfillCommand(),
		newLedgerCommand(),
		newCancelCommand(),
		newPauseCommand(),
		newResumeCommand(),
		newSkipCommand(),
		newDeleteCommand(),
		newRollbackCommand(),
		newDrainCommand(),
		newCordonCommand(),
		newUncordonCommand(),
		newSetCommand(),
		newNextCommand(),
		newImportCommand(),
		newStarlarkCommand(),
		newSecretCommand(),
		newCredentialCommand(),
		newNATSCommand(),
		newBackupCommand(),
		newRestoreCommand(),
		newDiagnosticsCommand(),
		newAlertCommand(),

		newLoginCommand(),
		newLogoutCommand(),
		newContextCommand(),
		newWhoamiCommand(),
		newSessionCommand(),
		newUserCommand(),
		newTokenCommand(),
		newGroupCommand(),
		newAuditLogCommand(),
		newRetentionCommand(),
		newDeadLetterCommand(),
		newVersionCommand(),
	}
}
