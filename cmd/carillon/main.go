package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "carillon"}
	root.AddCommand(newBenchCommand())
	if err := root.ExecuteContext(context.Background()); err != nil {
		os.Exit(1)
	}
}
