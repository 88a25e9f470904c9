package sqlite

import (
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// inGroups returns what is true of rows whose column grp one of the patterns of groups covers. A group has no
// character that GLOB takes for another.
func inGroups(patterns []string) (condition string, args []any) {
	names, prefixes := job.SplitGroups(patterns)
	condition = "grp IN (NULL" + strings.Repeat(", ?", len(names)) + ")"
	for _, name := range names {
		args = append(args, name)
	}
	for _, prefix := range prefixes {
		args = append(args, prefix+"*")
	}
	return "(" + condition + strings.Repeat(" OR grp GLOB ?", len(prefixes)) + ")", args
}
