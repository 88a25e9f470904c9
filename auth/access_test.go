package auth

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/rights"
)

func TestARoleHoldsInItsGroupAndEverywhereInAll(t *testing.T) {
	list := rights.List{{Role: rights.Editor, Group: "billing"}, {Role: rights.Viewer, Group: rights.Everywhere, Grants: []rights.Grant{}}}.WithDefaults()
	f := func(role rights.Role, group string, want bool) {
		t.Helper()
		if got := list.May(role, group); got != want {
			t.Errorf("%s in %s: %v", role, group, got)
		}
	}
	f(rights.Viewer, "billing", true)
	f(rights.Editor, "billing", true)
	f(rights.Admin, "billing", false)
	f(rights.Viewer, "ops", true)
	f(rights.Operator, "ops", false)
	f(rights.Viewer, rights.Everywhere, true)
	f(rights.Editor, rights.Everywhere, false)
	if !list.Sees(rights.Scripts, "billing") || list.Sees(rights.Logs, "ops") || list.Sees(rights.Scripts, rights.Everywhere) {
		t.Error("grants")
	}
	if groups, all := list.Groups(rights.Operator); all || !slices.Equal(groups, []string{"billing"}) {
		t.Errorf("%v %v", groups, all)
	}
	if _, all := list.Groups(rights.Viewer); !all {
		t.Error("not everywhere")
	}
}

func TestARoleCanHoldInAllGroupsWhoseNamesBeginAlike(t *testing.T) {
	list := rights.List{{Role: rights.Editor, Group: "team-*"}}.WithDefaults()
	for group, want := range map[string]bool{"team-a": true, "team-": true, "team": false, "steam-a": false, rights.Everywhere: false} {
		if list.May(rights.Editor, group) != want || list.Sees(rights.Scripts, group) != want {
			t.Errorf("%s: not %v", group, want)
		}
	}
	if groups, all := list.Groups(rights.Operator); all || !slices.Equal(groups, []string{"team-*"}) {
		t.Errorf("%v %v", groups, all)
	}
	for _, group := range []string{"billing", "*", "team-*", "t*"} {
		if errs := (rights.List{{Role: rights.Viewer, Group: group}}).Validate("access"); len(errs) > 0 {
			t.Error(errs)
		}
	}
	for _, group := range []string{"", "**", "*-team", "te*am", "team-**", "-*", "Team-*", "team-?"} {
		if errs := (rights.List{{Role: rights.Viewer, Group: group}}).Validate("access"); len(errs) != 1 {
			t.Errorf("%q passes", group)
		}
	}
}

// What both lists allow is what each allows: tried on random lists.
func TestWithinAllowsWhatBothAllow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	groups := []string{rights.Everywhere, "a", "b", "b*", "bc*", "bd"}
	random := func() (list rights.List) {
		for range r.IntN(4) {
			a := rights.Access{Role: rights.Roles[r.IntN(len(rights.Roles))], Group: groups[r.IntN(len(groups))], Grants: []rights.Grant{}}
			for _, g := range rights.Grants {
				if r.IntN(2) == 0 {
					a.Grants = append(a.Grants, g)
				}
			}
			list = append(list, a)
		}
		return list
	}
	for range 20000 {
		a, b := random(), random()
		both := a.Within(b)
		for _, group := range append(groups, "c", "bce") {
			for _, role := range rights.Roles {
				if got, want := both.May(role, group), a.May(role, group) && b.May(role, group); got != want {
					t.Fatalf("%v within %v: %s in %s is %v", a, b, role, group, got)
				}
			}
			for _, grant := range rights.Grants {
				if got, want := both.Sees(grant, group), a.Sees(grant, group) && b.Sees(grant, group); got != want {
					t.Fatalf("%v within %v: %s in %s is %v", a, b, grant, group, got)
				}
			}
		}
	}
}

func TestUserNamesAndPasswords(t *testing.T) {
	for _, name := range []string{"ann", "ann.smith", "ann@example.org", "a-b_c1", "7"} {
		if err := CheckUserName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "Ann", ".a", "a.", "a..b", "a=b", "a*", "a>b", "a b", "a/b", "ä", strings.Repeat("a", 129)} {
		if CheckUserName(name) == nil {
			t.Errorf("%q passes", name)
		}
	}
	for _, p := range []string{"correct horse battery staple", "zwölf Zeichen", strings.Repeat("ab", 128)} {
		if err := checkPassword(p, "ann"); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"", "short", "aaaaaaaaaaaaaaaa", "annannannann", "ann1234567890", strings.Repeat("ab", 129), "not UTF-8 \xff\xff\xff\xff"} {
		if checkPassword(p, "ann") == nil {
			t.Errorf("%q passes", p)
		}
	}
}

func TestAHashIsOfItsPasswordOnly(t *testing.T) {
	h := newHasher(1)
	stored, err := h.hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.hash(t.Context(), password)
	if err != nil || again == stored || !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%s, %s, %v", stored, again, err)
	}
	for p, want := range map[string]bool{password: true, password + " ": false, "": false} {
		if got, err := h.verify(t.Context(), p, stored); got != want || err != nil {
			t.Errorf("%q: %v, %v", p, got, err)
		}
	}
	if ok, err := h.verify(t.Context(), "", h.nobodysHash()); ok || err != nil {
		t.Errorf("nobody: %v, %v", ok, err)
	}
	if nobody := h.nobodysHash(); len(nobody) != len(stored) || !strings.HasPrefix(nobody, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("checking nobody's password costs another time: %s", nobody)
	}
	for _, bad := range []string{"", "x", "$argon2i$v=19$m=1,t=1,p=1$AAAA$AAAA", strings.Replace(stored, "m=19456", "m=999999999", 1), strings.Replace(stored, "t=2", "t=0", 1), stored[:40]} {
		if ok, err := h.verify(t.Context(), password, bad); ok || err == nil {
			t.Errorf("%q: %v, %v", bad, ok, err)
		}
	}
}
