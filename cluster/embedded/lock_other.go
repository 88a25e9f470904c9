//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package embedded

import "os"

// lockFile does nothing: the standard library has no advisory locks here, so on
// these systems it is up to the operator to start one server a directory.
func lockFile(*os.File) error { return nil }
