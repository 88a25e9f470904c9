package webapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// allow sets what a user may do, by the browser of an administrator.
func (b *browser) allow(name string, disabled bool, access ...rights.Access) {
	b.Helper()
	want[UserItem](b.world, http.StatusOK, "PUT", "/api/v1/users/"+name, map[string]any{"access": append(rights.List{}, access...), "disabled": disabled}, b.headers()...)
}

// save creates a job.
func (b *browser) save(name job.Name) {
	b.Helper()
	want[PutJobResult](b.world, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), document(name, "0 3 * * *"), b.headers()...)
}

// wantBye fails unless the next event is the last, apart from those of passing.
func (l *listener) wantBye(passing string) {
	l.Helper()
	name, _, data := l.event()
	for name == passing {
		name, _, data = l.event()
	}
	if name != "bye" {
		l.Errorf("event %q %s, want bye", name, data)
	}
}

func TestAStreamShowsNothingOfAGroupOnceItsReaderHasLostIt(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	billing, orders := rights.Access{Role: rights.Viewer, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "orders"}
	bob := ann.person("bob", billing, orders)
	x, y := begun("billing/x", noon), begun("orders/y", noon)
	g.history(x)
	g.printed(x, 1, 1)

	watch := g.listen("/api/v1/logs/tail", bob.headers()...)
	events := g.listen("/api/v1/events?topic=jobs", bob.headers()...)
	tail := g.listen(tailOf(x), bob.headers()...)
	events.wantReload()
	tail.lines(1)
	g.says(x, "before")
	watch.watched("before")

	ann.allow("bob", false, orders)
	g.print(x, 2)
	tail.wantBye("")
	g.says(x, "secret")
	g.says(y, "end")
	if got := fmt.Sprint(watch.watched("end")); got != "[orders/y end]" {
		t.Errorf("the watch shows %s", got)
	}
	ann.save("billing/secret")
	ann.save("orders/report")
	if _, told := events.topicEvent("jobs"); !cmp.Equal(told, Changed{Names: []string{"orders/report"}}) {
		t.Errorf("events: %v", told)
	}

	ann.allow("bob", true, orders)
	g.says(y, "secret")
	ann.save("orders/secret")
	watch.wantBye("rate")
	events.wantBye("")
}

func TestAStreamEndsWithTheSessionOrTokenOfItsReader(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	x := begun("billing/x", noon)
	g.history(x)
	g.printed(x, 1, 1)
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": "t"}, bob.headers()...)
	for _, by := range []struct {
		job     string
		headers []header
		end     func()
	}{
		{"token", []header{{"Authorization", "Bearer " + made.Secret}}, func() {
			want[any](g.world, http.StatusNoContent, "DELETE", "/api/v1/tokens/"+made.Token.ID, nil, bob.headers()...)
		}},
		{"session", bob.headers(), func() { want[any](g.world, http.StatusNoContent, "POST", "/api/v1/sign-out", nil, bob.headers()...) }},
	} {
		watch := g.listen("/api/v1/logs/tail", by.headers...)
		events := g.listen("/api/v1/events?topic=jobs", by.headers...)
		tail := g.listen(tailOf(x), by.headers...)
		events.wantReload()
		tail.lines(1)
		g.says(x, "before")
		watch.watched("before")
		by.end()
		g.print(x, 2)
		ann.save(job.Name("billing/" + by.job))
		tail.wantBye("")
		watch.wantBye("rate")
		events.wantBye("reload") // which says nothing: the server has heard too much, or too late
	}
}
