package job

import "strings"

// A pattern of groups is the name of a group, or the beginning of names with '*' after it: "team-*". The
// pattern "*" is of all groups.

// CheckGroups returns an *InvalidError for field unless s is a pattern of groups.
func CheckGroups(field, s string) error {
	prefix, many := strings.CutSuffix(s, "*")
	if many && prefix == "" {
		return nil
	}
	return CheckSlug(field, prefix)
}

// InGroups reports whether a pattern covers a group, or all groups of another pattern.
func InGroups(pattern, group string) bool {
	prefix, many := strings.CutSuffix(pattern, "*")
	return group == pattern || many && strings.HasPrefix(group, prefix)
}

// SplitGroups returns the names among patterns of groups, and what comes before the '*' of the others.
func SplitGroups(patterns []string) (names, prefixes []string) {
	for _, p := range patterns {
		if prefix, many := strings.CutSuffix(p, "*"); many {
			prefixes = append(prefixes, prefix)
		} else {
			names = append(names, p)
		}
	}
	return names, prefixes
}
