package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAWatchedAnswerIsDrawnAgainUntilItIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 2*watchEvery+time.Second)
		defer stop()
		var out strings.Builder
		asked := 0
		err := redraw(ctx, &out, func() int { return 3 }, func(w io.Writer) error {
			if asked++; asked == 2 {
				return fmt.Errorf("%w: no answer", job.ErrUnavailable)
			}
			_, err := fmt.Fprintf(w, "JOB\na/%d\nb\nc\n", asked)
			return err
		})
		want := beginScreen +
			"\x1b[HJOB\x1b[K\na/1\x1b[K\n\x1b[J" +
			"\x1b[H" + job.ErrUnavailable.Error() + ": no answer\x1b[K\n\x1b[J" +
			"\x1b[HJOB\x1b[K\na/3\x1b[K\n\x1b[J" + endScreen
		if out.String() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v\nwant %q", out.String(), err, want)
		}
	})
}

func TestAnErrorEndsAWatchAndGivesTheScreenBack(t *testing.T) {
	var out strings.Builder
	wrong := errors.New("no such job")
	err := redraw(t.Context(), &out, func() int { return 24 }, func(io.Writer) error { return wrong })
	if !errors.Is(err, wrong) || out.String() != beginScreen+endScreen {
		t.Errorf("%q, %v", out.String(), err)
	}
}
