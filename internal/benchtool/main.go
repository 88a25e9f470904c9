// Command benchtool has the benchmarks that users do not need: with them, the project measures itself.
//
//	benchtool herd -o json
//	benchtool scale --only groups,instances --most 100
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/carillon-scheduler/carillon/internal/bench"
	"github.com/carillon-scheduler/carillon/internal/cli"
)

// gcPercent is GOGC's default in carillon, whose figures these are.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	context.AfterFunc(ctx, stop)                                                           // a second signal ends the program at once
	os.Exit(cli.Execute(ctx, bench.Tool(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
