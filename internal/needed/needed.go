// Package needed tells whether a test may be left out where this machine lacks what it uses. It links
// nothing, so that any test can ask.
package needed

import "os"

// All reports whether no test may be left out: in CI, and under "task", which sets CARILLON_TEST_ALL.
func All() bool { return os.Getenv("CARILLON_TEST_ALL") != "" || os.Getenv("CI") != "" }
