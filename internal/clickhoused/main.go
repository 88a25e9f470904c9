// Command clickhoused runs a ClickHouse server of package chserver for people and
// for tests.
//
//	clickhoused install             fetch ClickHouse, unless it is there
//	clickhoused serve [-exposed] [-password TEXT] DIR
//	                                run a server on a folder, until it is interrupted
//	clickhoused test COMMAND...     run a command while a server for its tests runs
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
)

func main() {
	chserver.ServeIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := run(ctx, os.Args[1:])
	stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clickhoused:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "install":
		return chserver.Install(ctx, os.Stderr)
	case len(args) >= 2 && args[0] == "serve":
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		exposed := flags.Bool("exposed", false, "open the native protocol, which is not encrypted, on all addresses of this machine")
		password := flags.String("password", "", "password of the users; a random one if empty")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serve(ctx, chserver.Config{Dir: flags.Arg(0), Port: defaultPort, Exposed: *exposed, Password: *password, Log: os.Stderr})
	case len(args) >= 2 && args[0] == "test":
		return test(ctx, args[1:])
	}
	return errors.New("want install, serve DIR or test COMMAND")
}

// defaultPort is ClickHouse's own.
const defaultPort = 9000

func serve(ctx context.Context, cfg chserver.Config) error {
	s, err := chserver.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Stop()
	fmt.Fprintf(os.Stderr, "ClickHouse is running on %s, HTTP on %s. Stop it with Ctrl-C.\n\n  carillon dev --store '%s' --sql '%s'\n\n", s.Addr(), s.HTTPAddr(), s.URL("carillon"), s.ReaderURL("carillon"))
	select {
	case <-ctx.Done():
		return nil
	case <-s.Done():
		return errors.New("ClickHouse has ended by itself")
	}
}

func test(ctx context.Context, command []string) (err error) {
	dir, err := os.MkdirTemp("", "carillon-clickhouse-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := chserver.Start(ctx, chserver.Config{Dir: filepath.Join(dir, "data")})
	if err != nil {
		return err
	}
	defer s.Stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // what the user typed
	cmd.Env = append(os.Environ(), chtest.Variable+"="+s.URL("default"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
