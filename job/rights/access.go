package rights

import (
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// Role is what somebody may do in a group. Each role may all that the one before it
// may.
type Role string

// The roles, from the least to the greatest.
const (
	Viewer   Role = "viewer"   // sees jobs and runs
	Operator Role = "operator" // runs, cancels, pauses and resumes
	Editor   Role = "editor"   // saves and deletes jobs
	Admin    Role = "admin"    // everywhere: users, tokens of others, the audit log
)

// Roles lists all roles, the least first.
var Roles = []Role{Viewer, Operator, Editor, Admin}

// Grant is the right to see something that not everybody should who sees the job it
// belongs to, and to change it where one may change the job.
type Grant string

// The grants.
const (
	Logs    Grant = "logs"    // what runs print and return
	Params  Grant = "params"  // what jobs and runs are given
	Scripts Grant = "scripts" // scripts, commands and their standard input
	Secrets Grant = "secrets" // the values of a task's environment
	// SQL is to ask the whole history in SQL. An answer has what is in the log store,
	// whatever group it is of, so it counts only everywhere; see [List.MayAsk].
	SQL Grant = "sql"
	// Assist is to change things by an assistant, where the role allows the change. No role includes it.
	Assist Grant = "assist"
)

// Grants lists all grants.
var Grants = []Grant{Logs, Params, Scripts, Secrets, SQL, Assist}

// grantsOf is what a role sees unless its access says otherwise.
var grantsOf = map[Role][]Grant{
	Viewer:   {Logs},
	Operator: {Logs, Params},
	Editor:   {Logs, Params, Scripts, Secrets},
	Admin:    {Logs, Params, Scripts, Secrets, SQL},
}

// Everywhere stands for every group, those to come included.
const Everywhere = "*"

// Access is a role in executor groups.
type Access struct {
	Role Role `json:"role"`
	// Group is the name of a group, the beginning of names with '*' after it ("team-*"), or [Everywhere].
	Group string `json:"group"`
	// Grants replaces those that come with the role: logs for viewer, with params
	// for operator, with scripts and secrets for editor, with sql for admin. An empty list is none, nil the role's.
	Grants []Grant `json:"grants"`
}

func (a Access) covers(group string) bool { return job.InGroups(a.Group, group) }

// has reports whether the access comes with a grant. An admin always has SQL, which is
// younger than the lists that are stored of some.
func (a Access) has(grant Grant) bool {
	return slices.Contains(a.Grants, grant) || grant == SQL && a.Role == Admin
}

// String returns the access as the command line takes it.
func (a Access) String() string {
	if a.Group == Everywhere {
		return string(a.Role)
	}
	return string(a.Role) + ":" + a.Group
}

// List is all that somebody may. It is safe for concurrent use, as nobody
// changes it.
type List []Access

// WithDefaults returns the list with the grants of each role filled in.
func (l List) WithDefaults() List {
	out := slices.Clone(l)
	for i := range out {
		if out[i].Grants == nil {
			out[i].Grants = grantsOf[out[i].Role]
		}
	}
	return out
}

// maxAccess bounds a List.
const maxAccess = 200

// Validate returns an *job.InvalidError for each fault, with field as the path of the
// list.
func (l List) Validate(field string) []error {
	var errs []error
	fault := func(i int, part, format string, args ...any) {
		errs = append(errs, &job.InvalidError{Field: fmt.Sprintf("%s[%d].%s", field, i, part), Reason: fmt.Sprintf(format, args...)})
	}
	if len(l) > maxAccess {
		return []error{&job.InvalidError{Field: field, Reason: fmt.Sprintf("has %d entries; at most %d are taken", len(l), maxAccess)}}
	}
	for i, a := range l {
		if !slices.Contains(Roles, a.Role) {
			fault(i, "role", "%q must be one of %v", a.Role, Roles)
		}
		if err := job.CheckGroups(fmt.Sprintf("%s[%d].group", field, i), a.Group); err != nil {
			errs = append(errs, err)
		}
		for _, g := range a.Grants {
			if !slices.Contains(Grants, g) {
				fault(i, "grants", "has %q, and may have only %v", g, Grants)
			}
		}
	}
	return errs
}

// May reports whether the list has at least the role in the group. Group [Everywhere]
// asks for a role that holds everywhere.
func (l List) May(role Role, group string) bool {
	return slices.ContainsFunc(l, func(a Access) bool { return a.covers(group) && a.Role.AtLeast(role) })
}

// MaySomewhere reports whether the list has at least the role in some group.
func (l List) MaySomewhere(role Role) bool {
	return slices.ContainsFunc(l, func(a Access) bool { return a.Role.AtLeast(role) })
}

// MaySomewhereWith reports whether the list has at least the role, and the grant, in some group.
func (l List) MaySomewhereWith(role Role, grant Grant) bool {
	return slices.ContainsFunc(l, func(a Access) bool {
		return a.Role.AtLeast(role) && slices.ContainsFunc(l, func(b Access) bool {
			return b.has(grant) && (a.covers(b.Group) || b.covers(a.Group))
		})
	})
}

// Sees reports whether the list has the grant in the group, as [List.May].
func (l List) Sees(grant Grant, group string) bool {
	return slices.ContainsFunc(l, func(a Access) bool { return a.covers(group) && a.has(grant) })
}

// MayAsk reports whether the list allows to ask the history in SQL: that takes the grant,
// and to see everything that is in the history, all of it everywhere.
func (l List) MayAsk() bool {
	return l.May(Viewer, Everywhere) && l.Sees(SQL, Everywhere) && l.Sees(Logs, Everywhere) && l.Sees(Params, Everywhere)
}

// Groups returns the groups in which the list has at least the role, sorted, and
// whether that is everywhere; then there are no groups. A group may be the beginning of names, as in [Access].
func (l List) Groups(role Role) (groups []string, everywhere bool) {
	return l.groups(func(a Access) bool { return a.Role.AtLeast(role) })
}

// Seen is [List.Groups] for a grant.
func (l List) Seen(grant Grant) (groups []string, everywhere bool) {
	return l.groups(func(a Access) bool { return a.has(grant) })
}

func (l List) groups(fits func(Access) bool) (groups []string, everywhere bool) {
	for _, a := range l {
		switch {
		case !fits(a):
		case a.Group == Everywhere:
			return nil, true
		default:
			groups = append(groups, a.Group)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups), false
}

// Within returns what both lists allow.
func (l List) Within(limit List) List {
	both := List{}
	for _, a := range l {
		for _, b := range limit {
			c := a
			switch {
			case b.covers(a.Group):
			case a.covers(b.Group):
				c.Group = b.Group
			default:
				continue
			}
			if c.Role.AtLeast(b.Role) {
				c.Role = b.Role
			}
			c.Grants = []Grant{}
			for _, g := range Grants {
				if a.has(g) && b.has(g) {
					c.Grants = append(c.Grants, g)
				}
			}
			both = append(both, c)
		}
	}
	return both
}

// AtLeast reports whether a role may all that another may.
func (r Role) AtLeast(other Role) bool { return slices.Index(Roles, r) >= slices.Index(Roles, other) }
