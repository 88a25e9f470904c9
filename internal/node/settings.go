package node

import (
	"regexp"
	"slices"

	"github.com/spf13/pflag"
)

// inAddress finds who signs in, and what is asked for, in addresses.
var inAddress = regexp.MustCompile(`(://)[^\s]*@|\?[^\s,]*`)

// settingsOf returns the flags of a command by their names, without what is secret: of
// addresses the users, the passwords and what follows a question mark.
func settingsOf(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help":
		case slices.Contains(secretFlags, f.Name) && f.Value.String() != "":
			all[f.Name] = "(a file)"
		default:
			all[f.Name] = inAddress.ReplaceAllStringFunc(f.Value.String(), func(found string) string {
				if found[0] == '?' {
					return "?…"
				}
				return "://…@"
			})
		}
	})
	return all
}
