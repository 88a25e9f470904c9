//go:build unix

// Command natsd is a NATS server as a process of its own, which a test can kill.
//
//	natsd CONFIG STORE NAME LISTEN
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		os.Exit(1) //nolint:gocritic // the process ends, and with it what stop would undo
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("has %d arguments; want CONFIG STORE NAME LISTEN", len(args))
	}
	server, err := embedded.Start(embedded.Config{
		ConfigFile: args[0], StoreDir: args[1], ServerName: args[2], Listen: args[3],
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
