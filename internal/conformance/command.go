package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
)

// Commands returns the command.
func Commands() []*cobra.Command {
	var o Options
	var format string
	var list, verbose bool
	cmd := &cobra.Command{
		Use:   "conformance -- COMMAND [ARG…]",
		Short: "Test an executor of any language against the protocol",
		Long: "Test an executor of any language against the protocol. The command starts NATS and the executor, and\n" +
			"acts as the server. It prints for each case whether it passed; for a failed one, also what was sent,\n" +
			"what came back, and the section of docs/reference/protocol.md with the rule. The executor reads\n" +
			"CARILLON_NATS and CARILLON_GROUP, and needs these handlers:\n\n" + handlerList() + "\n\n" +
			"--list shows each case with its level. required: without it, runs are lost, done twice or never done.\n" +
			"robust: for production, where things are large, slow, wrong, or away. partitions: for clusters with several\n" +
			"partitions.",
		Example: "  carillon conformance -- python worker.py\n  carillon conformance --case kill -- ./worker\n  carillon conformance --slow -o junit -- node worker.js > report.xml",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch {
			case list:
				for _, c := range Cases() {
					if _, err := fmt.Fprintf(out, "%-30s %-10s %s: %s\n", c.Name, c.Level, c.Passage, c.Rule); err != nil {
						return err
					}
				}
				return nil
			case len(args) == 0:
				return cli.Usage(errors.New("which executor? Name its command after --"))
			case format != "text" && format != "junit":
				return cli.Usage(&job.InvalidError{Field: "output", Reason: fmt.Sprintf("%q must be text or junit", format)})
			}
			o.Command = args
			if verbose {
				o.Log = cmd.ErrOrStderr()
			}
			return runAll(cmd, o, format)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Cases, "case", "", "run only cases with this `text` in their name")
	f.IntVar(&o.AtOnce, "at-once", 4, "maximum `number` of cases that run at once, each with its own NATS and executor")
	f.BoolVar(&o.Slow, "slow", false, "also run cases that take more than ten seconds")
	f.BoolVar(&o.OnlySlow, "only-slow", false, "run only cases that take more than ten seconds")
	f.StringVarP(&format, "output", "o", "text", "output `format`: text or junit")
	f.BoolVar(&list, "list", false, "list the cases, their levels and the rules that they check")
	f.BoolVarP(&verbose, "verbose", "v", false, "show what the executor prints")
	return []*cobra.Command{cmd}
}

func handlerList() string {
	var b strings.Builder
	for _, h := range Handlers {
		fmt.Fprintf(&b, "  %-9s %s\n", h.Name, h.Does)
	}
	return strings.TrimRight(b.String(), "\n")
}

// runAll runs the cases and reports them. The error says how many failed.
func runAll(cmd *cobra.Command, o Options, format string) error {
	var all []Outcome
	passed, failed, left := 0, 0, 0
	var broken error
	err := Run(cmd.Context(), o, func(outcome Outcome) {
		all = append(all, outcome)
		switch {
		case outcome.LeftOut:
			left++
		case outcome.Failed != "":
			failed++
		default:
			passed++
		}
		if format == "text" && broken == nil {
			broken = outcome.Text(cmd.OutOrStdout())
		}
	})
	if err = errors.Join(err, broken); err != nil {
		return err
	}
	if len(all) == 0 {
		return &job.InvalidError{Field: "case", Reason: fmt.Sprintf("%q is in no case's name; see --list", o.Cases)}
	}
	if format == "junit" {
		if err := JUnit(cmd.OutOrStdout(), all); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d passed, %d failed, %d left out\n", passed, failed, left); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, passed+failed)
	}
	return nil
}
