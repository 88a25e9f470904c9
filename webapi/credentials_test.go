package webapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestACredentialIsShownOnceAndListedWithoutItsSeed(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.Executors = true })
	const all = "/api/v1/groups/billing/credentials"
	made, _ := want[NewCredential](w, http.StatusCreated, "POST", all, `{"name": "web1"}`)
	if !strings.HasPrefix(made.Seed, "SU") || made.Credential.Group != "billing" || made.Credential.ExpiresAt != nil {
		t.Errorf("made %+v", made)
	}
	next, _ := want[NewCredential](w, http.StatusCreated, "POST", all+"/"+made.Credential.ID+"/rotate", `{}`)
	if next.Credential.Replaces != made.Credential.ID || next.Seed == made.Seed {
		t.Errorf("rotated into %+v", next)
	}
	listed := w.send("GET", all, nil)
	if strings.Contains(listed.text, made.Seed) || strings.Contains(listed.text, next.Seed) || !strings.Contains(listed.text, next.Credential.PublicKey) {
		t.Errorf("listed %s", listed.text)
	}
	list, _ := want[CredentialList](w, http.StatusOK, "GET", all, nil)
	if len(list.Items) != 2 || list.Items[1].ExpiresAt == nil { // the old one ends after the overlap
		t.Errorf("listed %+v", list)
	}
	want[struct{}](w, http.StatusNoContent, "DELETE", all+"/"+next.Credential.ID, nil)
	want[Problem](w, http.StatusNotFound, "DELETE", all+"/"+next.Credential.ID, nil)
	want[Problem](w, http.StatusNotFound, "DELETE", "/api/v1/groups/other/credentials/"+made.Credential.ID, nil)
	audit := w.send("GET", "/api/v1/audit-log?group=billing", nil)
	for _, op := range []string{"createCredential", "rotateCredential", "revokeCredential", made.Credential.PublicKey} {
		if !strings.Contains(audit.text, op) {
			t.Errorf("the audit log says nothing of %s", op)
		}
	}
	if strings.Contains(audit.text, made.Seed) {
		t.Error("the audit log has a seed")
	}
}

func TestNoCredentialIsMadeThatNATSWouldNotAskAbout(t *testing.T) {
	w := newWorld(t)
	p, _ := want[Problem](w, http.StatusConflict, "POST", "/api/v1/groups/billing/credentials", `{"name": "web1"}`)
	if !strings.Contains(p.Detail, "--nats-keys") {
		t.Errorf("says %q", p.Detail)
	}
}
