package all_test

import (
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
