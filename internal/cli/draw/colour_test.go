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
	table.Row("lost", "failed", "lost") // as a run, and a reason, may be called
	table.Row("b", "other", "-")
	table.Line("failed")
	table.Line("")
	table.Row("status", "lost")
	table.Row("job", "lost")
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "RUN   STATUS  REASON\nlost  \x1b[31mfailed\x1b[0m  lost\nb     other   -\nfailed\n\nstatus  \x1b[31mlost\x1b[0m\njob     lost\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
	t.Setenv("NO_COLOR", "1")
	if WantsColour() {
		t.Error("there are colours in spite of NO_COLOR")
	}
}
