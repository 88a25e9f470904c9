package top

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
)

// What a frame is fitted into where there is no terminal that says.
const (
	frameWidth  = 80
	frameHeight = 24
)

func newTopCommand() *cobra.Command {
	var once bool
	every := 2 * time.Second
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show a live view of the cluster",
		Long: "Show a live view of the cluster: nodes with their shards, executor groups with running and waiting\n" +
			"runs, delays, the backlog of the history, and the newest failures. Quit with q or Ctrl-C. --once,\n" +
			"-o json and -o yaml print one frame, for scripts; the exit code is 5 if it is incomplete.",
		Example: "  carillon top\n  carillon top --every 10s\n  carillon top --once\n  carillon top -o json | jq .lateness.started.p99_ms",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "print one frame and exit")
	cmd.Flags().Var(cli.OptionalDuration(&every), "every", "refresh interval")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if every < 200*time.Millisecond {
			return cli.Usage(errors.New("--every must be 200ms or more"))
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		api.Notice(nil) // the frame has a line for it
		if !once && !r.Output.IsData() {
			return watchTop(cmd, api, every)
		}
		v := lookAt(cmd.Context(), api, cli.ClockOf(cmd))
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if !r.Output.IsData() {
			_, err = io.WriteString(cmd.OutOrStdout(), v.frame(outputWidth(cmd.OutOrStdout()), 0))
		} else {
			err = r.Show(cmd.OutOrStdout(), v, nil)
		}
		return errors.Join(err, v.err())
	}
	return cmd
}

// outputWidth returns how wide the terminal is that one writes to, if it is one.
func outputWidth(w io.Writer) int {
	if f, ok := draw.FileOf(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return wholeLines
}

// err returns what could not be seen, as one error: [job.ErrUnavailable], or that one
// may not.
func (v *topView) err() error {
	if len(v.Missing) == 0 {
		return nil
	}
	if v.denied != nil {
		return v.denied
	}
	return fmt.Errorf("%w: %s", job.ErrUnavailable, v.Missing[0])
}
