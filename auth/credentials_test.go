package auth

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

func TestARotatedCredentialWorksOnForItsOverlap(t *testing.T) {
	inBubble(t, func(w *world) {
		first, seed, err := w.d.Credentials().Create(w.Context(), "billing", "web1", "ann", 0)
		w.check(err)
		if seed == "" || first.PublicKey == "" || first.ID == "" || !first.ExpiresAt.IsZero() {
			w.Errorf("made %+v", first)
		}
		second, other, err := w.d.Credentials().Rotate(w.Context(), "billing", first.ID, "bob", time.Hour)
		w.check(err)
		if other == seed || second.Replaces != first.ID || second.Name != "web1" || second.Author != "bob" {
			w.Errorf("rotated into %+v", second)
		}
		works := func(c *Credential) bool {
			_, err := w.d.Credentials().ByPublicKey(w.Context(), c.PublicKey)
			if err != nil && !errors.Is(err, ErrUnauthenticated) {
				w.Error(err)
			}
			if holds := len(w.d.Credentials().Served("billing", c.ID)) > 0; holds != (err == nil) {
				w.Errorf("holds: %v, works: %v", holds, err)
			}
			return err == nil
		}
		time.Sleep(time.Hour - time.Second)
		if !works(first) || !works(second) {
			w.Error("one of both does not work within the overlap")
		}
		time.Sleep(time.Second)
		if works(first) || !works(second) {
			w.Error("after the overlap, the new one and only that must work")
		}
		if _, _, err := w.d.Credentials().Rotate(w.Context(), "billing", first.ID, "bob", 0); !errors.Is(err, job.ErrConflict) {
			w.Errorf("rotate what has ended: %v", err)
		}
		// One that ends earlier by itself is not made to last longer.
		short, _, err := w.d.Credentials().Create(w.Context(), "billing", "web2", "ann", time.Minute)
		w.check(err)
		after, _, err := w.d.Credentials().Rotate(w.Context(), "billing", short.ID, "ann", time.Hour)
		w.check(err)
		if life := after.ExpiresAt.Sub(after.CreatedAt); life.Round(time.Second) != time.Minute {
			w.Errorf("the new one lives for %v", life)
		}
		time.Sleep(time.Minute)
		if works(short) {
			w.Error("rotation made a credential last longer")
		}
		list, err := w.d.Credentials().OfGroup(w.Context(), "billing")
		w.check(err)
		if len(list) != 4 {
			w.Errorf("lists %d", len(list))
		}
	})
}

func TestACredentialBelongsToItsGroup(t *testing.T) {
	inBubble(t, func(w *world) {
		c, _, err := w.d.Credentials().Create(w.Context(), "billing", "web1", "ann", 0)
		w.check(err)
		if err := w.d.Credentials().Revoke(w.Context(), "payroll", c.ID); !errors.Is(err, job.ErrNotFound) {
			w.Errorf("revoke by another group: %v", err)
		}
		if _, _, err := w.d.Credentials().Rotate(w.Context(), "payroll", c.ID, "eve", 0); !errors.Is(err, job.ErrNotFound) {
			w.Errorf("rotate by another group: %v", err)
		}
		if len(w.d.Credentials().Served("payroll", c.ID)) > 0 {
			w.Error("another group holds it")
		}
		if list, err := w.d.Credentials().OfGroup(w.Context(), "payroll"); err != nil || len(list) != 0 {
			w.Errorf("another group lists %v, %v", list, err)
		}
		w.check(w.d.Credentials().Revoke(w.Context(), "billing", c.ID))
		if _, err := w.d.Credentials().ByPublicKey(w.Context(), c.PublicKey); !errors.Is(err, ErrUnauthenticated) {
			w.Errorf("after the revocation: %v", err)
		}
	})
}

func TestACredentialThatCannotBeIsRefusedByField(t *testing.T) {
	inBubble(t, func(w *world) {
		refused := func(group, name string, life time.Duration, field string) {
			w.Helper()
			_, _, err := w.d.Credentials().Create(w.Context(), group, name, "ann", life)
			if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != field {
				w.Errorf("%q %q %v: %v, want field %s", group, name, life, err, field)
			}
		}
		refused("no group", "web1", 0, "group")
		refused("*", "web1", 0, "group")
		refused("billing", "", 0, "name")
		refused("billing", "web1", -time.Second, "expires_in")
		refused("billing", "web1", maxCredentialLife+1, "expires_in")
	})
}

func TestAGroupHasNoMoreCredentialsAndAUserNoMoreTokensThanTheyMay(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		credential := func() (string, error) {
			c, _, err := w.d.Credentials().Create(w.Context(), "billing", "web1", "ann", 0)
			if err != nil {
				return "", err
			}
			return c.ID, nil
		}
		token := func() error {
			_, _, err := w.d.Tokens().Create(w.Context(), "ann", "ci", rights.List{{Role: rights.Viewer, Group: rights.Everywhere}}, time.Hour)
			return err
		}
		var last string
		for range maxCredentials {
			var err error
			last, err = credential()
			w.check(err)
		}
		for range maxTokens {
			w.check(token())
		}
		_, err := credential()
		if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != "group" || bad.Reason != "billing has 1000 credentials, and may have no more; revoke some" {
			w.Errorf("one credential more: %v", err)
		}
		if bad, ok := errors.AsType[*job.InvalidError](token()); !ok || bad.Reason != "is one too many: user ann has 1000 API tokens, and may have no more; revoke some" {
			w.Errorf("one token more: %v", bad)
		}
		if _, _, err := w.d.Credentials().Create(w.Context(), "ops", "web1", "ann", 0); err != nil {
			w.Errorf("another group: %v", err)
		}
		w.check(w.d.Credentials().Revoke(w.Context(), "billing", last))
		_, err = credential()
		w.check(err)
	})
}
