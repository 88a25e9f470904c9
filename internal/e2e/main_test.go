//go:build unix

package e2e

import (
	"os"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

func TestMain(m *testing.M) {
	chserver.ServeIfAsked()
	os.Exit(processtest.Main(m,
		"github.com/carillon-scheduler/carillon/cmd/carillon",
		"github.com/carillon-scheduler/carillon/internal/e2e/natsd",
		"github.com/carillon-scheduler/carillon/internal/e2e/mortal",
		"github.com/carillon-scheduler/carillon/internal/e2e/load"))
}
