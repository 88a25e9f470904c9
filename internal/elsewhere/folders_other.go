//go:build !unix

package elsewhere

import "os"

// configFolders returns where configuration is: of the user, then of the machine.
func configFolders() []string {
	user, _ := os.UserConfigDir() // "" if there is none
	return []string{user, os.Getenv("ProgramData")}
}
