//go:build unix

// Command standin is an executor of package internal/xxlstandin as a process. It has the
// handlers, and takes the variables of the environment, of the executor in Java beside it, and
// XXL_DIALECT. How it is to answer from now on is posted to /standin/behave, and /standin/forget makes
// it lose its runs.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	witness, err := os.OpenFile(os.Getenv("XXL_WITNESS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // its user names the file
	if err != nil {
		return err
	}
	defer func() { _ = witness.Close() }()
	address := "127.0.0.1:" + os.Getenv("XXL_PORT")
	e := xxlstandin.New(xxlstandin.Config{
		Admins: strings.Split(os.Getenv("XXL_ADMIN"), ","), AppName: os.Getenv("XXL_APPNAME"), Token: os.Getenv("XXL_TOKEN"),
		Address: "http://" + address, Dialect: os.Getenv("XXL_DIALECT"), Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, handlers(witness))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if err := e.Serve(ctx, l); err != nil {
		return err
	}
	return e.Leave(context.WithoutCancel(ctx)) // the context has ended
}
