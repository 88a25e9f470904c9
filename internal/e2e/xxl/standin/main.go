//go:build unix

// Command standin is an executor of package internal/xxljob/standin as a process. It has the
// handlers, and takes the variables of the environment, of the executor in Java beside it, and
// XXL_DIALECT. How it is to answer from now on is posted to /standin/behave, and /standin/forget makes
// it lose its runs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/carillon-scheduler/carillon/internal/xxljob/standin"
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
	e := standin.New(standin.Config{
		Admins: strings.Split(os.Getenv("XXL_ADMIN"), ","), AppName: os.Getenv("XXL_APPNAME"), Token: os.Getenv("XXL_TOKEN"),
		Dialect: standin.Dialect(os.Getenv("XXL_DIALECT")), Handlers: handlers(witness),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+os.Getenv("XXL_PORT"))
	if err != nil {
		return err
	}
	return e.Run(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/standin/behave":
			var m standin.Manner
			if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			e.Behave(&m)
		case "/standin/forget":
			e.Forget()
		default:
			e.ServeHTTP(w, r)
		}
	}))
}
