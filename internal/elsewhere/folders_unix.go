//go:build unix

package elsewhere

import (
	"os"
	"path/filepath"
)

// configFolders returns where configuration is: of the user, then of the machine.
func configFolders() []string {
	if xdg := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		return []string{xdg, "/etc"}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return []string{"/etc"}
	}
	return []string{filepath.Join(home, ".config"), "/etc"}
}
