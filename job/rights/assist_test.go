package rights

import "testing"

func TestNoRoleIncludesTheGrantForAssistants(t *testing.T) {
	for _, role := range Roles {
		if l := (List{{Role: role, Group: Everywhere}}).WithDefaults(); l.Sees(Assist, "a") || l.MaySomewhereWith(role, Assist) {
			t.Errorf("%s includes it", role)
		}
	}
	with := func(role Role, group string) Access { return Access{Role: role, Group: group, Grants: []Grant{Assist}} }
	for i, c := range []struct {
		list List
		want bool
	}{
		{List{with(Operator, "a")}, true},
		{List{with(Viewer, "a")}, false},
		{List{with(Viewer, "a"), {Role: Operator, Group: "b"}}, false},
		{List{with(Viewer, "a-*"), {Role: Operator, Group: "a-b"}}, true},
		{List{with(Viewer, "a-b"), {Role: Admin, Group: Everywhere}}, true},
	} {
		if got := c.list.MaySomewhereWith(Operator, Assist); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}
