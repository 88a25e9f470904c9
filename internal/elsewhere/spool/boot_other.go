//go:build !linux

package spool

import "time"

// sinceBoot knows nothing here: ages are those of the wall clock.
func sinceBoot() (boot string, since time.Duration) { return "", 0 }
