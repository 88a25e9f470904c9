//go:build unix

package xxl

import (
	"os"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

func TestMain(m *testing.M) {
	os.Exit(processtest.Main(m,
		"github.com/carillon-scheduler/carillon/cmd/carillon",
		"github.com/carillon-scheduler/carillon/internal/e2e/natsd",
		"github.com/carillon-scheduler/carillon/internal/e2e/xxl/standin"))
}
