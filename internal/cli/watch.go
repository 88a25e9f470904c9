package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// watchEvery is how often --watch asks the server.
const watchEvery = 2 * time.Second

// defaultRows is how many rows a terminal has that does not say.
const defaultRows = 24

// watchable gives --watch to a command that shows something.
func watchable(cmd *cobra.Command) {
	once := cmd.RunE
	watch := cmd.Flags().BoolP("watch", "w", false, "show the answer again every 2 s, until Ctrl-C")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*watch {
			return once(cmd, args)
		}
		out, ok := draw.FileOf(cmd.OutOrStdout())
		if !ok || !term.IsTerminal(int(out.Fd())) {
			return Usage(errors.New("--watch needs a terminal; for scripts, \"carillon events\" prints each change"))
		}
		height := func() int {
			if _, rows, err := term.GetSize(int(out.Fd())); err == nil && rows > 1 {
				return rows
			}
			return defaultRows
		}
		return redraw(cmd.Context(), out, height, func(w io.Writer) error {
			cmd.SetOut(draw.NewScreen(w))
			return once(cmd, args)
		})
	}
}

// What a terminal is told: to show another screen, without a cursor, that cuts long lines; and to go back.
const (
	beginScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	endScreen   = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// redraw fills a screen of so many rows again and again with what fill writes, until ctx is done. While the
// server is away, the screen says so.
func redraw(ctx context.Context, out io.Writer, height func() int, fill func(io.Writer) error) (err error) {
	if _, err := io.WriteString(out, beginScreen); err != nil {
		return err //nolint:wrapcheck // a writer's error is its own
	}
	defer func() {
		_, undo := io.WriteString(out, endScreen)
		err = errors.Join(err, undo)
	}()
	for {
		var frame bytes.Buffer
		switch err := fill(&frame); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, job.ErrUnavailable):
			frame.Reset()
			frame.WriteString(err.Error() + "\n")
		case err != nil:
			return err
		}
		lines := strings.SplitAfter(frame.String(), "\n")
		shown := strings.Join(lines[:min(len(lines), height()-1)], "")
		if _, err := io.WriteString(out, "\x1b[H"+strings.ReplaceAll(shown, "\n", "\x1b[K\n")+"\x1b[J"); err != nil {
			return err //nolint:wrapcheck // a writer's error is its own
		}
		if err := pause.For(ctx, watchEvery); err != nil {
			return err
		}
	}
}
