//go:build !unix

package manifest

import "io/fs"

// sameOwner does nothing here: there is no cron.
func sameOwner(string, fs.FileInfo) error { return nil }
