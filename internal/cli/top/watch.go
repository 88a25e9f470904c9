package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// Escape sequences of terminals.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // a screen of its own, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[2K"
	clearBelow  = "\x1b[J"
)

// watchTop shows frames until somebody has seen enough.
func watchTop(cmd *cobra.Command, api *client.API, every time.Duration) (err error) {
	out, ok := draw.FileOf(cmd.OutOrStdout())
	if !ok || !term.IsTerminal(int(out.Fd())) {
		return cli.Usage(errors.New("standard output is not a terminal; use --once or -o json"))
	}
	restore, err := obeySequences(out)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer restore()
	keys := make(chan string)
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		defer func() { _ = term.Restore(int(in.Fd()), before) }()
		go readKeys(cmd.Context(), in, keys) // waits for a key until the process ends
	}
	w := &watch{out: out, every: every, keys: keys, size: func() (width, height int) {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return frameWidth, frameHeight
		}
		return width, height
	}, look: func() topView { return lookAt(cmd.Context(), api, cli.ClockOf(cmd)) }}
	return w.run(cmd.Context())
}

// readKeys sends what is typed, a key at a time: of one that has no character, its escape sequence.
func readKeys(ctx context.Context, in io.Reader, keys chan<- string) {
	typed := make([]byte, 64)
	for {
		n, err := in.Read(typed)
		if err != nil {
			return
		}
		select {
		case keys <- string(typed[:n]):
		case <-ctx.Done():
			return
		}
	}
}

// resizeEvery is how often the size of the terminal is read. Not every system says when it changes.
const resizeEvery = 250 * time.Millisecond

// watch is what a terminal shows, and what ends it.
type watch struct {
	out   io.Writer
	every time.Duration
	keys  <-chan string
	size  func() (width, height int)
	look  func() topView

	view          topView // the last that was seen; empty before the first
	width, height int     // of the last frame
}

// run repaints the screen until q, Esc or Ctrl-C is typed, or ctx is done, which is an error.
func (w *watch) run(ctx context.Context) (err error) {
	if _, err := io.WriteString(w.out, enterScreen); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer func() {
		_, leaveErr := io.WriteString(w.out, leaveScreen)
		err = errors.Join(err, leaveErr)
	}()
	seen := make(chan topView, 1) // so that a look that ends after us waits for nobody
	look := func() { go func() { seen <- w.look() }() }
	look()
	resize := time.NewTicker(resizeEvery)
	defer resize.Stop()
	again := time.NewTimer(w.every)
	again.Stop()
	defer again.Stop()
	for err := w.paint(); ; {
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Canceled
		case key := <-w.keys:
			if key == "q" || key == "\x1b" || key == "\x03" {
				return nil
			}
		case w.view = <-seen:
			again.Reset(w.every)
			err = w.paint()
		case <-again.C:
			look()
		case <-resize.C:
			if width, height := w.size(); width != w.width || height != w.height {
				err = w.paint()
			}
		}
	}
}

// paint draws the view in place of the last frame.
func (w *watch) paint() error {
	w.width, w.height = w.size()
	text := "asking the server …  (q ends)"
	if !w.view.At.IsZero() {
		text = w.view.frame(w.width, w.height)
	}
	var shown bytes.Buffer
	if _, err := draw.NewScreen(&shown).Write([]byte(text)); err != nil {
		return err //nolint:wrapcheck // run says what it was
	}
	var frame strings.Builder
	frame.WriteString(home)
	for i, line := range strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n") {
		if i > 0 {
			frame.WriteString("\r\n") // none after the last, which may be the lowest
		}
		frame.WriteString(clearLine + line)
	}
	_, err := io.WriteString(w.out, frame.String()+clearBelow)
	return err //nolint:wrapcheck // run says what it was
}
