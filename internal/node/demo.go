package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/demo"
	"github.com/carillon-scheduler/carillon/job"
)

// shortestDemo is how long the jobs of a demonstration have to fire, so that a scheduler can die twice.
const shortestDemo = 15 * time.Second

func newDemoCommand() *cobra.Command {
	var o devOptions
	o.flags(pflag.NewFlagSet("dev", pflag.ContinueOnError)) // for their defaults
	o.roles, o.noSamples, o.nats, o.logLevel = []string{roleStore, roleAPI, roleAlert}, true, "127.0.0.1:0", "error"
	during := 45 * time.Second
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Kill the scheduler twice in a minute, and verify every fire",
		Long: "Fire a hundred jobs for a minute, kill the scheduler twice with SIGKILL, and let the ledger account\n" +
			"for every fire. The scheduler is a process of its own; NATS, the history, the API and an executor\n" +
			"run in this one, in a temporary directory. Afterwards the console stays open until you press\n" +
			"Ctrl-C. Then everything is removed. The exit code is 1 if there is a discrepancy.",
		Example: "  carillon demo\n  carillon demo --for 20s --exit",
		Args:    cli.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", defaultHTTP, "`address` of the API and the console; port 0 picks a free port")
	f.DurationVar(&during, "for", during, "how long the jobs fire")
	exit := f.Bool("exit", false, "end after the ledger, without the console")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if during < shortestDemo {
			return cli.Usage(&job.InvalidError{Field: "for", Reason: fmt.Sprintf("%s must be at least %s", during, shortestDemo)})
		}
		return runDemo(cmd, o, during, *exit)
	}
	return cmd
}

// runDemo runs dev without a scheduler, and the show on it.
func runDemo(cmd *cobra.Command, o devOptions, during time.Duration, exit bool) (err error) {
	dir, err := os.MkdirTemp("", "carillon-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the demonstration: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	cmd.SetContext(ctx)
	handlers := &demo.Handlers{}
	o.data, o.handlers = dir, handlers
	var failed error
	o.show = func(ctx context.Context, api, nats string) {
		child := &schedulerProcess{nats: nats, masterKey: filepath.Join(dir, "master.key"), errors: cmd.ErrOrStderr()}
		defer child.kill()
		out := cmd.OutOrStdout()
		file, ok := draw.FileOf(out)
		colour := ok && term.IsTerminal(int(file.Fd())) && draw.WantsColour()
		a, err := client.New(api, cli.UserName())
		if err == nil {
			err = demo.Config{
				API: a, Handlers: handlers, Scheduler: func() (int, error) { return child.start(ctx) }, Kill: child.kill, For: during, Out: out, Colour: colour,
			}.Run(ctx)
		}
		if failed = err; err != nil || exit {
			stop()
			return
		}
		cmd.Printf(demoOver, api)
		<-ctx.Done()
	}
	if err := runDev(cmd, o); err != nil {
		return err
	}
	if errors.Is(failed, context.Canceled) { // a person has ended it
		return nil
	}
	return failed
}

const demoOver = `Look around in the console: http://%s
Ctrl-C ends the demonstration and removes its data.
`

// schedulerProcess is a server that only fires.
type schedulerProcess struct {
	nats, masterKey string
	errors          io.Writer
	cmd             *exec.Cmd
}

// start starts a process that ends with ctx, and returns its number.
func (p *schedulerProcess) start(ctx context.Context) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	p.cmd = exec.CommandContext(ctx, self, "server", "--roles", roleScheduler, "--nats", p.nats, "--master-key", p.masterKey, "--log-level", "error") //nolint:gosec // this program
	p.cmd.Stderr = p.errors
	endWithParent(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return 0, fmt.Errorf("start a scheduler: %w", err)
	}
	return p.cmd.Process.Pid, nil
}

// kill kills the process, if there is one, and waits for its end.
func (p *schedulerProcess) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}
