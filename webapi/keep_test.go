package webapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"
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
