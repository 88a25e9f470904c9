package main

import (
	"fmt"
	"strings"

	"carillon/auth"
	"carillon/internal/client"
	"carillon/job"
)

// accessFlag is a flag that takes roles, again and again: ROLE, ROLE:GROUP, and either
// with =GRANT,GRANT. It is a pflag.Value.
type accessFlag []client.Access

const accessHelp = "a `role`, such as operator or editor:billing; append =logs,params to replace the role's default grants; can be repeated"

func (f *accessFlag) String() string {
	var parts []string
	for _, a := range *f {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " ")
}

// Set reads one role.
func (f *accessFlag) Set(s string) error {
	role, grants, limited := strings.Cut(s, "=")
	role, group, inGroup := strings.Cut(role, ":")
	a := auth.Access{Role: auth.Role(role), Group: auth.Everywhere}
	if inGroup {
		a.Group = group
	}
	if limited {
		a.Grants = []auth.Grant{}
		for g := range strings.SplitSeq(grants, ",") {
			if g != "" {
				a.Grants = append(a.Grants, auth.Grant(g))
			}
		}
	}
	if errs := (auth.AccessList{a}).Validate("role"); len(errs) > 0 {
		return &job.InvalidError{Reason: fmt.Sprintf("must be one of %v, alone or with :GROUP, and =GRANTS of %v", auth.Roles, auth.Grants)}
	}
	*f = append(*f, a)
	return nil
}

// Type names the flag's values in the help.
func (f *accessFlag) Type() string { return "role" }

// shownAccess returns what somebody may as one line.
func shownAccess(list []client.Access) string {
	if len(list) == 0 {
		return "nothing"
	}
	var parts []string
	for _, a := range list {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " ")
}
