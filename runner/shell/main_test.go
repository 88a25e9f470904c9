package shell_test

import (
	"os"
	"testing"
)

// Tasks inherit the locale. A shell warns of one that this machine does not have, and a test would
// read that as output.
func TestMain(m *testing.M) {
	_ = os.Setenv("LC_ALL", "C")
	os.Exit(m.Run())
}
