package cli

import (
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// RolesFlag is a flag that takes roles, again and again: ROLE, ROLE:GROUP, and either
// with =GRANT,GRANT. It is a pflag.Value.
type RolesFlag []client.Access

// RolesHelp is the help of a RolesFlag.
const RolesHelp = "a `role`, such as operator, editor:billing or editor:team-*; append =logs,params to replace the role's default grants; can be repeated"

func (f *RolesFlag) String() string {
	var parts []string
	for _, a := range *f {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " ")
}

// Set reads one role.
func (f *RolesFlag) Set(s string) error {
	role, grants, limited := strings.Cut(s, "=")
	role, group, inGroup := strings.Cut(role, ":")
	a := rights.Access{Role: rights.Role(role), Group: rights.Everywhere}
	if inGroup {
		a.Group = group
	}
	if limited {
		a.Grants = []rights.Grant{}
		for g := range strings.SplitSeq(grants, ",") {
			if g != "" {
				a.Grants = append(a.Grants, rights.Grant(g))
			}
		}
	}
	if errs := (rights.List{a}).Validate("role"); len(errs) > 0 {
		return &job.InvalidError{Reason: fmt.Sprintf("must be one of %v, alone or with :GROUP, and =GRANTS of %v", rights.Roles, rights.Grants)}
	}
	*f = append(*f, a)
	return nil
}

// Type names the flag's values in the help.
func (f *RolesFlag) Type() string { return "role" }

// Roles returns what somebody may as one line.
func Roles(list []client.Access) string {
	if len(list) == 0 {
		return "nothing"
	}
	var parts []string
	for _, a := range list {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " ")
}
