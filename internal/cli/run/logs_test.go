package run

import (
	"bytes"
	"os"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestWhatIsPipedIsAsItWasPrinted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if got := draw.ForPeople(w); got != w {
		t.Errorf("a pipe is shielded by %T", got)
	}
	const text = "\x1b[2J\x1b]0;title\x07"
	err = linePrinter{w: draw.ForPeople(w)}.print([]client.LogLine{{Text: text}})
	_ = w.Close()
	var b bytes.Buffer
	if _, readErr := b.ReadFrom(r); err != nil || readErr != nil || b.String() != text+"\n" {
		t.Errorf("%q came out of the pipe: %v, %v", b.String(), err, readErr)
	}
}
