package access

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

func TestAPermitAsksForARoleWhereItSays(t *testing.T) {
	t.Parallel()
	role := func(r rights.Role, group string, grants ...rights.Grant) rights.List {
		return rights.List{{Role: r, Group: group, Grants: grants}}
	}
	viewer := Permit{Role: rights.Viewer}
	operator := Permit{Role: rights.Operator}
	logs := Permit{Role: rights.Viewer, Grant: rights.Logs}
	at := func(p Permit, where Place) Permit {
		p.Where = where
		return p
	}
	for _, c := range []struct {
		name   string
		permit Permit
		access rights.List
		want   error
	}{
		{"anybody, where nothing is asked", at(operator, Open), nil, nil},
		{"whoever is signed in, about themselves", at(operator, Self), nil, nil},
		{"a viewer of another group, somewhere", at(viewer, Somewhere), role(rights.Viewer, "ops"), nil},
		{"a viewer, where somewhere an operator is asked", at(operator, Somewhere), role(rights.Viewer, "ops"), problem.ErrForbidden},
		{"an operator of a group, everywhere", at(operator, Everywhere), role(rights.Operator, "billing"), problem.ErrForbidden},
		{"an operator of all groups, everywhere", at(operator, Everywhere), role(rights.Operator, "*"), nil},
		{"an operator of the group of the path", at(operator, OfPath), role(rights.Operator, "billing"), nil},
		{"a viewer of the group of the path", at(operator, OfPath), role(rights.Viewer, "billing"), problem.ErrForbidden},
		{"an administrator of another group than that of the path", at(operator, OfPath), role(rights.Admin, "ops"), problem.ErrForbidden},
		{"an operator of the group of the run", at(operator, OfRun), role(rights.Operator, "billing"), nil},
		{"a viewer of the group of the run", at(operator, OfRun), role(rights.Viewer, "billing"), problem.ErrForbidden},
		{"an administrator of another group than that of the run, which is not theirs to know", at(operator, OfRun), role(rights.Admin, "ops"), job.ErrNotFound},
		{"likewise of the incident", at(operator, OfIncident), role(rights.Admin, "ops"), job.ErrNotFound},
		{"a viewer with the grant", at(logs, OfRun), role(rights.Viewer, "billing", rights.Logs), nil},
		{"a viewer without the grant", at(logs, OfRun), role(rights.Viewer, "billing", rights.Params), problem.ErrForbidden},
		{"an administrator of all groups with the grant", at(logs, OfRun), role(rights.Admin, "*", rights.Logs), nil},
	} {
		err := c.permit.Allows(&auth.Identity{Access: c.access}, func() (string, error) { return "billing", nil })
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAPermitThatNeedsNoGroupDoesNotAskForIt(t *testing.T) {
	t.Parallel()
	everywhere := &auth.Identity{Access: rights.List{{Role: rights.Admin, Group: "*"}}}
	for _, where := range []Place{Open, Self, Somewhere, Everywhere, OfPath, OfRun, OfIncident} {
		p := Permit{Role: rights.Operator, Where: where}
		if err := p.Allows(everywhere, func() (string, error) { return "", job.ErrUnavailable }); err != nil {
			t.Errorf("place %d: %v", where, err)
		}
	}
}

// scoped are the operations of each scope. What is on no list refuses every token that is limited.
var scoped = map[rights.Scope][]string{
	rights.Signal: {"signalRun", "signalJob"},
	rights.Ping:   {"pingJob"},
	rights.Start:  {"runJob", "runJobs"},
}

func TestATokenThatIsLimitedMayNothingElse(t *testing.T) {
	t.Parallel()
	group := func() (string, error) { return "billing", nil }
	admin := rights.List{{Role: rights.Admin, Group: "*", Grants: rights.Grants}}
	for _, only := range []rights.Only{{rights.Signal}, {rights.Ping}, {rights.Start}, {rights.Ping, rights.Start}} {
		who := &auth.Identity{Access: admin, Only: only}
		for operation, p := range Permits {
			err, within := p.Allows(who, group), slices.ContainsFunc(only, func(s rights.Scope) bool { return slices.Contains(scoped[s], operation) })
			if p.Where != Open && within != (err == nil) || err != nil && !errors.Is(err, problem.ErrForbidden) {
				t.Errorf("%s of a token for %s: %v", operation, only, err)
			}
			if err != nil && !strings.Contains(err.Error(), only.String()) {
				t.Errorf("%s: %q does not name %s", operation, err, only)
			}
		}
	}
	if len(scoped) != len(rights.Scopes) {
		t.Errorf("the table has %d scopes of %d", len(scoped), len(rights.Scopes))
	}
	for scope, operations := range scoped {
		who := &auth.Identity{Access: rights.List{{Role: rights.Viewer, Group: "billing"}, {Role: rights.Operator, Group: "ops"}}, Only: rights.Only{scope}}
		for _, operation := range operations {
			if Permits[operation].Each {
				continue // its handler judges each thing by itself
			}
			if err := Permits[operation].Allows(who, group); !errors.Is(err, problem.ErrForbidden) {
				t.Errorf("%s without the role: %v", operation, err)
			}
		}
	}
}
