package build

import (
	"runtime"
	"runtime/debug"
)

// Commit returns the commit that the program was built from, and when that was made. Both are
// empty if it was not built in a checkout, and the commit ends in "+dirty" if that had changes.
func Commit() (hash, at string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			hash = s.Value + hash
		case s.Key == "vcs.time":
			at = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			hash += "+dirty"
		}
	}
	return hash, at
}

// Version returns the program's version, from how it was built.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "devel" {
			v += "-" + s.Value[:12]
		}
	}
	return v + " " + runtime.Version()
}
