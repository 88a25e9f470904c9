package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/executor/tracing"
	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
)

type executorOptions struct {
	NATSFlags
	runnerOptions
	monitorOptions
	workerOptions
	group, instance     string
	secretKey           string
	secretCommand       string
	credential          string
	maxLines, maxBytes  int
	slots               int
	labels              []string
	grace               time.Duration
	spool               string
	spoolBytes          int64
	logLevel, logFormat string
}

func newExecutorCommand() *cobra.Command {
	var o executorOptions
	cmd := &cobra.Command{
		Use:   "executor --group GROUP",
		Short: "Run an executor for the jobs of a group",
		Long: "Run the stock executor for a group. It runs shell, command and script jobs as child processes,\n" +
			"each in its own process group, sends the requests of http jobs, and sends every output line to the\n" +
			"log store. When stopped, it takes no more runs, waits up to --grace for its runs, and gives back\n" +
			"the rest to other instances.\n\n" +
			"Anyone who can save a job of the group can run programs as the user of this process; restrict the\n" +
			"task kinds with --allow. Starlark scripts can neither read files nor start programs. Pass the seed\n" +
			"on standard input, from a file that this user cannot read: then jobs cannot read it either. HTTP\n" +
			"requests go to public addresses only, plus those in --http-allow.\n\n" +
			"With --worker, it also runs the handlers of a program in any language, which it starts and keeps\n" +
			"running: they exchange lines of JSON over standard input and output. --allow handler runs nothing\n" +
			"else. docs/reference/worker-processes.md has the messages and examples.",
		Example: "  carillon executor --group billing --nats nats://n1:4222 --credential billing.seed --slots 8\n" +
			"  carillon executor --group billing --label zone=eu --label gpu=true\n" +
			"  carillon executor --group hooks --allow http,starlark --http-allow intranet.example.com,10.1.0.0/16\n" +
			"  carillon executor --group reports --worker 'php worker.php' --worker-processes 4 --allow handler",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runExecutor(cmd, o) },
	}
	f := cmd.Flags()
	o.ConnectionFlags(f)
	o.runnerOptions.flags(f)
	o.monitorOptions.flags(f)
	o.workerOptions.flags(f)
	f.StringVarP(&o.group, "group", "g", "", "run the jobs of this executor `group`")
	f.StringVar(&o.credential, "credential", "", "the `file` of the seed for the connection to NATS, from \"carillon credential create\"; - is standard input, fd:3 an\ninherited descriptor (default: from "+keyfile.CredentialVariable+")")
	f.StringVar(&o.instance, "instance", "", "the instance's `name`, unique in the group (default: host name, process id, random letters)")
	f.IntVar(&o.slots, "slots", 32, "maximum number of concurrent runs (with --worker, by default as many as the worker processes do)")
	f.StringArrayVar(&o.labels, "label", nil, "a `label` of this instance, KEY=VALUE, that jobs can require; can be repeated")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "how long a stopping executor waits for its runs; a second SIGTERM gives them back at once, a third ends the process")
	f.StringVar(&o.secretKey, "secret-key", "", "the `file` of the group's key for secrets, from \"carillon secret key\"; - or fd:3 as above (default: from "+keyfile.SecretKeyVariable+")")
	f.StringVar(&o.secretCommand, "secret-command", "", "this `command`, a line for /bin/sh, prints the secret whose name is in "+secretName+", in the place of Carillon's own secrets")
	f.IntVar(&o.maxLines, "max-log-lines", 1_000_000, "maximum number of log `lines` per attempt; further lines are counted and dropped")
	f.IntVar(&o.maxBytes, "max-log-bytes", 64<<20, "maximum number of log `bytes` per attempt")
	f.StringVar(&o.spool, "spool", "", "keep results and logs in this `folder` while NATS is away, and report them after a restart; each executor\nneeds its own (default: keep them in memory only)")
	f.Int64Var(&o.spoolBytes, "spool-bytes", 64<<20, "maximum size of the spool in `bytes`")
	f.StringVar(&o.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "log format: text or json")
	if err := cmd.MarkFlagRequired("group"); err != nil {
		panic("BUG: " + err.Error())
	}
	return configurable(cmd, "group", "nats", "nats-ca", "credential", "secret-key", "slots", "label", "allow", "http-allow", "worker", "spool")
}

func runExecutor(cmd *cobra.Command, o executorOptions) error {
	log, err := NewLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	if err := job.CheckSlug("group", o.group); err != nil {
		return cli.Usage(err)
	}
	if err := hideFromTasks(); err != nil { // before any key is read
		return err
	}
	labels, err := job.ParseLabels(o.labels)
	if err != nil {
		return cli.Usage(err)
	}
	key, err := keyfile.Read(o.secretKey, keyfile.SecretKeyVariable)
	if err != nil {
		return err
	}
	if o.Key, err = keyfile.Read(o.credential, keyfile.CredentialVariable); err != nil {
		return err
	}
	o.Name, o.Logger, o.Inbox = "carillon executor "+o.group, log, bus.ExecutorInbox(o.group)
	conn, err := jet.Await(cmd.Context(), o.Config)
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	reg := newRegistry()
	tracer, endTraces, err := startTraces(cmd.Context(), "carillon-executor", log)
	if err != nil {
		return err
	}
	defer endTraces(cmd.Context())
	workers, err := o.start(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer workers.Close()
	if workers != nil && !cmd.Flags().Changed("slots") {
		o.slots = workers.Slots()
	}
	var secrets func(context.Context, string) (string, error)
	if o.secretCommand != "" {
		secrets = secretCommand(o.secretCommand)
	}
	e, err := executor.New(conn, executor.Config{
		Secrets: secrets, Group: o.group, Instance: o.instance, Slots: o.slots, Labels: labels, Grace: o.grace, Version: build.Version(), Logger: log.With("component", "executor"),
		SecretKey: key, MaxLogLines: o.maxLines, MaxLogBytes: o.maxBytes, Spool: o.spool, SpoolBytes: o.spoolBytes,
		Observers: observers(reg, tracer), Schemas: schema.JSON{},
	})
	if errors.Is(err, job.ErrInvalid) {
		return cli.Usage(err)
	} else if err != nil {
		return err
	}
	if err := o.register(e, 0, log); err != nil {
		return err
	}
	workers.Register(e)
	reachable := check{"bus", func(context.Context) error {
		if !conn.NC.IsConnected() {
			return errors.New("NATS does not answer")
		}
		return nil
	}}
	watched, err := o.layers(cmd.Context(), reg, connAlive(conn), []check{reachable}, log)
	if err != nil {
		return err
	}
	// The rest lives as long as the executor, which takes its time to stop.
	watching, stop := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer stop()
	g, watching := errgroup.WithContext(watching)
	for _, l := range watched {
		g.Go(func() error { return l.run(watching) })
	}
	running, stopRun := context.WithCancelCause(cmd.Context())
	defer stopRun(nil)
	var down error
	g.Go(func() error {
		if down = workers.Watch(watching); down != nil {
			stopRun(down) // it gives its runs back, and takes no more; metrics and health go on until then
		}
		return nil
	})
	defer giveBackAtSecondSignal(e, log)()
	err = e.Run(running)
	stop()
	others := g.Wait()
	return errors.Join(err, down, others)
}

// observers returns those of an executor, for its metrics and, unless tracer is nil, its traces.
// giveBackAtSecondSignal calls GiveBack at the second stop signal of the process. A third signal ends the
// process at once. The returned function removes the handler.
func giveBackAtSecondSignal(e *executor.Executor, log *slog.Logger) func() {
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var work sync.WaitGroup
	work.Go(func() {
		defer signal.Stop(signals)
		for range 2 {
			select {
			case <-signals:
			case <-over:
				return
			}
		}
		log.Warn("told to stop again; giving runs back")
		e.GiveBack()
	})
	return func() { close(over); work.Wait() }
}

func observers(reg prometheus.Registerer, tracer trace.TracerProvider) []executor.NewObserver {
	all := []executor.NewObserver{metrics.Prometheus(reg)}
	if tracer != nil {
		all = append(all, tracing.OpenTelemetry(tracer))
	}
	return all
}
