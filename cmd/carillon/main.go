// Command carillon is the whole system in one binary: the servers, the executor for
// jobs that need no program of your own, and the client with which people and scripts use them.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
	_ "time/tzdata" // zones for machines that have no files of their own

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/bench"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/all"
	"github.com/carillon-scheduler/carillon/internal/cli/elsewhere"
	"github.com/carillon-scheduler/carillon/internal/conformance"
	"github.com/carillon-scheduler/carillon/internal/node"
)

// gcPercent is GOGC's default in this program. What lives long, the jobs, takes some 200
// bytes each, so memory is cheaper than the tenth of the CPU that collecting it twice as
// often costs a busy server.
const gcPercent = 200

func main() {
	if len(os.Args) > 1 && os.Args[1] == elsewhere.Name { // what it runs gets the signals
		os.Exit(cli.Execute(context.Background(), cli.NewRoot(all.WatchCommands()...), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Execute(cli.InZone(ctx, time.Local), cli.NewRoot(commands()...), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// commands returns all that the program can do.
func commands() []*cobra.Command {
	return slices.Concat(node.Commands(), bench.Commands(), conformance.Commands(), all.Commands())
}
