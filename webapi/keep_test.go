package webapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus/seal"
)

func TestADocumentThatDoesNotMentionDisabledKeepsIt(t *testing.T) {
	w := newWorld(t)
	f := func(path string, document map[string]any) {
		t.Helper()
		put := func(want bool, status int, more map[string]any) {
			t.Helper()
			body := maps.Clone(document)
			maps.Copy(body, more)
			a := w.send("PUT", path, body)
			var item struct {
				Disabled   bool `json:"disabled"` // of a user
				Definition struct {
					Disabled bool `json:"disabled"`
				} `json:"definition"`
			}
			w.check(json.Unmarshal([]byte(a.text), &item))
			if got := item.Disabled || item.Definition.Disabled; a.status != status || got != want {
				t.Errorf("PUT %s of %v: %d, disabled %v; want %d, %v", path, body, a.status, got, status, want)
			}
		}
		first := http.StatusOK
		if _, user := document["access"]; user {
			first = http.StatusCreated
		}
		put(false, first, nil)
		put(true, http.StatusOK, map[string]any{"disabled": true})
		put(true, http.StatusOK, nil)
		put(false, http.StatusOK, map[string]any{"disabled": false})
		put(false, http.StatusOK, nil)
	}
	f("/api/v1/alerts/rules/nightly", map[string]any{"alert": "nightly", "channels": []string{}})
	f("/api/v1/alerts/channels/chat", map[string]any{"channel": "chat", "kind": "slack"})
	f("/api/v1/users/bob", map[string]any{"access": []any{}})
}

func TestANewValueOfASecretKeepsItsDescription(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.MasterKey = seal.NewMaster().Text() })
	put := func(description string, body map[string]any) {
		t.Helper()
		const path = "/api/v1/groups/billing/secrets"
		a := w.send("PUT", path+"/db", body)
		list, _ := want[SecretList](w, http.StatusOK, "GET", path, nil)
		if a.status != http.StatusOK || list.Items[0].Description != description || !strings.Contains(a.text, description) {
			t.Errorf("PUT of %v: %d %s, then %+v", body, a.status, a.text, list.Items)
		}
	}
	put("", map[string]any{"value": "x"})
	put("of the ledger", map[string]any{"value": "x", "description": "of the ledger"})
	put("of the ledger", map[string]any{"value": "y"})
	put("", map[string]any{"value": "y", "description": ""})
}
