package main

import (
	"time"

	"github.com/spf13/cobra"

	"carillon/bus"
	"carillon/executor"
	"carillon/executor/shell"
	"carillon/job"
)

type executorOptions struct {
	natsOptions
	group, instance     string
	slots               int
	grace               time.Duration
	logLevel, logFormat string
}

func newExecutorCommand() *cobra.Command {
	var o executorOptions
	cmd := &cobra.Command{
		Use:   "executor --group GROUP",
		Short: "Run an executor that does the shell and command jobs of a group",
		Long: "Run the stock executor for a group: it runs shell and command jobs as child processes, each in a process group of\n" +
			"its own, and sends every line they print to the log store. Stopped, it takes no more work, lets its runs end for\n" +
			"as long as --grace, and gives back the rest for another instance to run.",
		Example: "  carillon executor --group billing --nats nats://n1:4222 --creds billing.creds --slots 8",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runExecutor(cmd, o) },
	}
	f := cmd.Flags()
	o.flags(f)
	f.StringVarP(&o.group, "group", "g", "", "the executor `group` whose jobs to run")
	f.StringVar(&o.instance, "instance", "", "the instance's `name`, unique in the group (default: host name, process id, random letters)")
	f.IntVar(&o.slots, "slots", 32, "how many runs at once")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "how long a stopping executor lets its runs go on")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	if err := cmd.MarkFlagRequired("group"); err != nil {
		panic("BUG: " + err.Error())
	}
	return cmd
}

func runExecutor(cmd *cobra.Command, o executorOptions) error {
	log, err := newLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	if err := job.CheckSlug("group", o.group); err != nil {
		return err
	}
	o.Name, o.Logger = "carillon executor "+o.group, log
	conn, err := bus.Connect(o.Config)
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	e, err := executor.New(conn, executor.Config{
		Group: o.group, Instance: o.instance, Slots: o.slots, Grace: o.grace, Version: version(), Logger: log.With("component", "executor"),
	})
	if err != nil {
		return err
	}
	shell.Register(e, shell.Config{})
	log.Info("executor started", "executor_group", o.group, "slots", o.slots)
	return e.Run(cmd.Context())
}
