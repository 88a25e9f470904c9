package draw

import (
	"strings"
	"testing"
)

func TestCellsThatSayHowSomethingIsHaveAColourAndStayInTheirColumn(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	table := Table{Colour: WantsColour()}
	table.Row("RUN", "STATUS", "REASON")
	table.Row("a", "failed", "failed twice")
	table.Row("b", "other", "-")
	table.Line("failed")
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "RUN  STATUS  REASON\na    \x1b[31mfailed\x1b[0m  failed twice\nb    other   \x1b[2m-\x1b[0m\nfailed\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
	t.Setenv("NO_COLOR", "1")
	if WantsColour() {
		t.Error("there are colours in spite of NO_COLOR")
	}
}
