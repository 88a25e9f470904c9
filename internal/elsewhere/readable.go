package elsewhere

import (
	"fmt"
	"os"
	"strings"
)

const notYet = `Nothing is reported yet: write "server" and "token" to `

// Unreadable says which users cannot send pings for want of a configuration file that they can read, each in
// a line for people. Without users, it is about who runs the program.
func Unreadable(users []string) (lines []string) {
	files := configFiles()
	machine := files[len(files)-1]
	if len(users) == 0 {
		for _, file := range files {
			if f, err := os.Open(file); err == nil { //nolint:gosec // the user's own file, or that of the machine
				_ = f.Close()
				return nil
			}
		}
		return []string{notYet + strings.Join(files, " or ")}
	}
	info, err := os.Stat(machine)
	if err != nil {
		return []string{notYet + machine}
	}
	for _, name := range users {
		if !canRead(name, info) {
			lines = append(lines, fmt.Sprintf("User %s cannot read %s: the user's lines run, and are not reported", name, machine))
		}
	}
	return lines
}
