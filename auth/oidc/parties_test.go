package oidc

import (
	"errors"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/carillon-scheduler/carillon/auth"
)

func TestAnIDTokenNamesItsSubjectAndThisClient(t *testing.T) {
	check := func(accepted bool, subject string, audience []string, claims map[string]any) {
		t.Helper()
		err := checkParties(&oidc.IDToken{Subject: subject, Audience: audience}, claims, "carillon")
		if accepted != (err == nil) || err != nil && !errors.Is(err, auth.ErrUnauthenticated) {
			t.Errorf("sub %q, aud %q, %v: the error is %v", subject, audience, claims, err)
		}
	}
	alone, shared := []string{"carillon"}, []string{"carillon", "other"}
	check(true, "1", alone, nil)
	check(true, "1", alone, map[string]any{"azp": "carillon"})
	check(true, "1", shared, map[string]any{"azp": "carillon"})
	check(false, "", alone, nil)
	check(false, "1", shared, nil)
	check(false, "1", shared, map[string]any{"azp": "other"})
	check(false, "1", alone, map[string]any{"azp": "other"})
	check(false, "1", alone, map[string]any{"azp": 1})
}
