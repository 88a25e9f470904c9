package auth

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/rights"
)

func TestTokensOfAProvidersUserRestUntilTheUserSignsInAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		jane := &External{Issuer: "https://id.example", Subject: "1", Name: "jane", Managed: true, Access: rights.List{{Role: rights.Operator, Group: "billing"}}, TokenLife: 2 * time.Hour}
		signIn := func() error {
			_, _, err := w.d.SignInExternal(w.Context(), jane, Client{})
			return err
		}
		w.check(signIn())
		token, secret, err := w.d.Tokens().Create(w.Context(), "jane", "ci", jane.Access, 90*24*time.Hour)
		w.check(err)
		works := func(when string, works bool) {
			t.Helper()
			if _, err := w.d.BySecret(w.Context(), secret); works != (err == nil) || !works && !errors.Is(err, ErrUnauthenticated) {
				t.Errorf("%s: %v", when, err)
			}
			if w.d.Tokens().Rests(token) == works {
				t.Errorf("%s: rests %v", when, !works)
			}
		}
		works("at first", true)
		time.Sleep(2*time.Hour - time.Minute)
		works("before that is over", true)
		time.Sleep(time.Minute)
		works("after it", false)
		before, err := w.d.Users().Get(w.Context(), "jane")
		w.check(err)
		w.check(signIn())
		works("after another sign-in", true)
		after, err := w.d.Users().Get(w.Context(), "jane")
		w.check(err)
		if !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("a sign-in that changes nothing counts as an edit: %+v", after)
		}
		w.check(signIn())
		if again, err := w.d.Users().Get(w.Context(), "jane"); err != nil || again.Revision != after.Revision {
			t.Errorf("the next sign-in, right after it, wrote once more: %+v, %v", again, err)
		}

		// Whoever is in no group any more is let in no more, nor is what they have left behind.
		jane.Access = nil
		if err := signIn(); !errors.Is(err, ErrNoAccess) {
			t.Error(err)
		}
		if who, err := w.d.BySecret(w.Context(), secret); err != nil || len(who.Access) != 0 {
			t.Errorf("may still %+v, %v", who, err)
		}

		// A user with a password needs no provider.
		w.user("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		_, secret, err = w.d.Tokens().Create(w.Context(), "bob", "ci", nil, 90*24*time.Hour)
		w.check(err)
		time.Sleep(3 * time.Hour)
		if _, err := w.d.BySecret(w.Context(), secret); err != nil {
			t.Error(err)
		}
	})
}
