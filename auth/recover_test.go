package auth

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

func TestRecoveryMakesAnAdministratorOfAnybody(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		_, _, err := w.d.Users().Put(w.Context(), "bob", UserEdit{Access: rights.List{{Role: rights.Viewer, Group: "billing"}}, Disabled: new(true)})
		w.check(err)
		for _, name := range []string{"bob", "new"} {
			secret, expires, err := w.d.Recover(w.Context(), name)
			w.check(err)
			if !expires.After(time.Now()) {
				w.Errorf("the link of %s ends at %v", name, expires)
			}
			who, _, err := w.d.Accept(w.Context(), secret, "", password, here)
			w.check(err)
			if who.User != name || !who.Access.May(rights.Admin, rights.Everywhere) {
				w.Errorf("%s is %+v", name, who)
			}
			if _, _, err := w.d.Accept(w.Context(), secret, "", password, here); !errors.Is(err, ErrInvitation) {
				w.Errorf("the link of %s works twice: %v", name, err)
			}
		}
		if _, _, err := w.d.Recover(w.Context(), "No Name"); !errors.Is(err, job.ErrInvalid) {
			w.Errorf("a name that can be none: %v", err)
		}
	})
}
