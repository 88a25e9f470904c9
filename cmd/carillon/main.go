package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "carillon", SilenceUsage: true}
	root.SetOut(os.Stdout)
	root.AddCommand(newBenchCommand(), newDevCommand(), newServerCommand(), newExecutorCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}
