package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAGroupThatIsResumedIsNamedSo(t *testing.T) {
	s := clitest.New(t)
	if code, _, e := s.Run("", "group", "pause", "default"); code != 0 {
		t.Fatal(e)
	}
	s.Want("group default is resumed: it is not paused any more\n", "", "group", "resume", "default")
}

func TestAGroupShowsWhoseHandlersMayStartItsJobs(t *testing.T) {
	s := clitest.New(t)
	s.Want("group default has no limits\nhandlers of these groups may start its jobs: mail, shop\n", "", "group", "set", "default", "--started-by", "shop,mail")
	s.Want("group default has no limits\n", "", "group", "set", "default", "--started-by", "")
}

func TestALimitOfAGroupLeavesTheOtherAsItIs(t *testing.T) {
	s := clitest.New(t)
	for _, flag := range []string{"--limit=20", "--rate=2.5", "--limit=21"} {
		if code, _, e := s.Run("", "group", "set", "default", flag); code != 0 {
			t.Fatal(e)
		}
	}
	if _, out, _ := s.Run("", "group", "set", "default", "--limit=0"); !strings.Contains(out, "2.5") {
		t.Errorf("without one limit: %s", out)
	}
}
