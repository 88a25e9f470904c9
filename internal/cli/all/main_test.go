package all_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }
