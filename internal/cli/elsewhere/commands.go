package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/elsewhere"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/output"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/job"
)

// Name is the name of the command. A program that is asked for it builds no other: it starts with each line
// of a crontab.
const Name = "watch"

// Commands returns the command, with those below it.
func Commands(below ...*cobra.Command) []*cobra.Command {
	cmd := newWatchCommand()
	cmd.AddCommand(below...)
	return []*cobra.Command{cmd}
}

func newWatchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   Name + " JOB [flags] -- COMMAND [ARG]...",
		Short: "Run a command, and report its start, end and output as a run of a job",
		Long: "Run a command that another scheduler starts, such as a line of a crontab, and report its start,\n" +
			"exit code and output to the job. The task of the job is \"watch\"; it says when a run is due.\n\n" +
			"The command runs whatever is wrong: without server, token or job it runs as without this wrapper, and\n" +
			"its exit code is that of the wrapper. What is wrong is printed on standard error at most once an hour.\n" +
			"While the server is away, the report is kept on disk, and the next wrapper sends it.\n\n" +
			"Signals are passed on. Standard input, the working directory and the environment stay as they are;\n" +
			elsewhere.RunVariable + " has the key of the run. Of the output, the first 8 KiB and the last 56 KiB are sent.\n" +
			"A terminal is not read, unless --output is given.\n\n" +
			"Server and token come from the flags, the environment, ~/.config/carillon/watch.yaml or\n" +
			"/etc/carillon/watch.yaml (keys: server, token, ca).",
		Example: "  carillon watch ops/backup -- /usr/local/bin/backup --all\n" +
			"  carillon watch ops/report -c 'cd /srv && ./report | mail -s report ops'\n" +
			"  carillon watch --flush                        # send what was kept while the server was away",
		DisableFlagParsing: true, // a wrong flag must not keep the command from running
	}
	f := &flags{}
	f.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if streams, is := output.ReadsOutput(args); is {
			return output.Serve(streams)
		}
		o, err := f.parse(cmd, args)
		switch {
		case err != nil:
			return cli.Usage(err)
		case f.help:
			return cmd.Help()
		case f.flush:
			return flush(cmd)
		case f.install != "":
			return elsewhere.Install(f.install)
		}
		if code := elsewhere.Run(context.WithoutCancel(cmd.Context()), *o); code != 0 {
			return cli.ExitWith(code, nil)
		}
		return nil
	}
	return cmd
}

// flags are those of the command.
type flags struct {
	o           elsewhere.Options
	help, flush bool
	install     string
}

func (f *flags) addTo(cmd *cobra.Command) {
	all := cmd.Flags()
	all.StringVarP(&f.o.Line, "command", "c", "", "a `line` for the shell that SHELL names, as cron runs it, in place of COMMAND")
	all.StringVar(&f.o.Access.Server, "server", "", "`address` of the server, also from CARILLON_SERVER (default: "+elsewhere.DefaultServer+")")
	all.StringVar(&f.o.Access.Token, "token", "", "ping `token` of the job, or API token, also from "+elsewhere.TokenVariable)
	all.StringVar(&f.o.Access.CA, "ca", "", "CA `file` of the server certificate, also from "+cli.CAVariable)
	all.StringVar(&f.o.Run, "run", "", "`key` of the run, the same for each attempt of it (default: a random one)")
	all.Var(cli.Duration(&f.o.Patience, elsewhere.DefaultPatience), "patience", "how long the end of the command waits for the server")
	all.BoolVar(&f.o.Force, "output", false, "send the output even of a terminal")
	all.BoolVar(&f.o.NoOutput, "no-output", false, "send no output, and do not touch it")
	all.StringVar(&f.o.Mask, "mask", "", "`file` of secrets, one a line, to replace with *** in the output that is sent")
	all.BoolVar(&f.flush, "flush", false, "send the reports that were kept while the server was away, and run nothing")
	all.StringVar(&f.install, "install", "", "copy this program to a `directory`, such as a volume that containers share, and run nothing")
	all.BoolVarP(&f.help, "help", "h", false, "help for "+Name)
}

// runsNothing reports whether no command is to be run.
func (f *flags) runsNothing() bool { return f.help || f.flush || f.install != "" }

// parse reads a command line: flags, the job, flags, and the command. An error means that there is no command
// to run. All else that is wrong becomes the problem of the options.
func (f *flags) parse(cmd *cobra.Command, args []string) (*elsewhere.Options, error) {
	all := cmd.Flags()
	all.SetInterspersed(false)
	err := all.Parse(args)
	rest := all.Args()
	if err == nil && all.ArgsLenAtDash() != 0 && len(rest) > 0 {
		f.o.Job, err = job.ParseName(rest[0])
		flagsErr := all.Parse(rest[1:])
		err, rest = errors.Join(err, flagsErr), all.Args()
	} else if err == nil && !f.runsNothing() {
		err = errors.New("no JOB is named")
	}
	if f.runsNothing() {
		return nil, err
	}
	o := f.o
	if o.Patience == 0 {
		o.Patience = elsewhere.DefaultPatience
	}
	if o.Run != "" {
		err = errors.Join(err, ping.CheckRun(o.Run))
	}
	switch {
	case err != nil:
		o.Args, o.Line = commandIn(args)
	case o.Line == "" && !all.Changed("command"):
		o.Args = rest
	case len(rest) > 0:
		o.Args = rest
		err = errors.New("give either -c or a command, not both")
	}
	if o.Problem = err; len(o.Args) == 0 && o.Line == "" {
		return nil, errors.Join(err, errors.New("no command is given; write it behind --, or as a line with -c"))
	}
	return &o, nil
}

// commandIn finds the command in a command line that is wrong otherwise.
func commandIn(args []string) (command []string, line string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[i+1:], ""
	}
	for i, arg := range args {
		value, whole := strings.CutPrefix(arg, "--command=")
		switch {
		case whole:
			return nil, value
		case (arg == "-c" || arg == "--command") && i+1 < len(args):
			return nil, args[i+1]
		}
	}
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.Contains(arg, "/") && !strings.HasPrefix(arg, "-") }); i >= 0 {
		if rest := args[i+1:]; len(rest) > 0 && !strings.HasPrefix(rest[0], "-") { // JOB COMMAND, without --
			return rest, ""
		}
	}
	return nil, ""
}

// flush sends what was kept.
func flush(cmd *cobra.Command) error {
	sent, left, err := elsewhere.Flush(cmd.Context(), func(text string) { cmd.PrintErrln(text) })
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%d sent, %d left\n", sent, left)
	return err
}
