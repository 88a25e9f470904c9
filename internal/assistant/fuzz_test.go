package assistant

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// FuzzToolArguments calls tools with any arguments. The session goes on, answers have bounds and no characters that hide
// text, and nothing is changed without the code of a proposal.
func FuzzToolArguments(f *testing.F) {
	const run = "019b76da-a800-7c3e-9d5b-0f4e2a6c8b01"
	for _, seed := range [][2]string{
		{"find_jobs", `{"text": "backup\u202e", "limit": -1}`},
		{"find_jobs", `{"text": ["a"], "group": {"x": null}}`},
		{"why_not_run", `{"job": "ops/backup", "at": "yesterday"}`},
		{"why_not_run", `{"job": "../../x", "at": "9999-12-31T23:59:59Z"}`},
		{"explain_run", `{"run": "` + run + `"}`},
		{"compare_runs", `{"run": ""}`},
		{"search_logs", `{"query": "\u0000", "limit": 1e308}`},
		{"forecast", `{"job": "` + strings.Repeat("a", 5000) + `"}`},
		{"preview", `{"cron": "*/0 * * * *", "zone": "Mars/Base"}`},
		{"preview", `{"document": "job: [a, b"}`},
		{"ledger", `{"from": "2026-01-01T00:00:00Z", "to": "1970-01-01T00:00:00Z"}`},
		{"list_incidents", `[]`},
		{"list_waiting", `null`},
		{"run", `{"job": "ops/backup", "params": "{", "confirm": ""}`},
		{"run", `{"job": "ops/backup", "confirm": "` + run + `.AAAAAAAAAAAAAAAAAAAAAA"}`},
		{"rerun", `{"run": "` + run + `", "confirm": "."}`},
		{"pause", `{"job": "ops/backup", "until": "now", "confirm": "x"}`},
		{"resume", `{"job": "ops/backup", "job": "ops/other"}`},
		{"acknowledge", `{"incident": "a/../b?c#d", "note": "\u200b"}`},
		{"no_such_tool", `{}`},
	} {
		f.Add(seed[0], seed[1])
	}
	var changes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(trail.HeaderAssistant) != "" {
			changes.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`)) // of which every tool has to make something
	}))
	f.Cleanup(server.Close)
	api, err := client.New(server.URL, "")
	if err != nil {
		f.Fatal(err)
	}
	s := New(Config{
		API: api, Access: rights.List{{Role: rights.Admin, Group: rights.Everywhere, Grants: []rights.Grant{rights.Assist, rights.Logs}}},
		Writes: &Writes{Codes: NewCodes(), Caller: "ada"}, Calls: rate.NewLimiter(rate.Inf, 1),
	})
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := s.Connect(f.Context(), ours, nil); err != nil {
		f.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "fuzz", Version: "1"}, nil).Connect(f.Context(), theirs, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = session.Close() })
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return // it is no message
		}
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err == nil {
			for _, c := range r.Content {
				text := c.(*mcp.TextContent).Text //nolint:forcetypeassert // all answers are texts
				if len(text) > maxAnswer+len(arguments)+1000 || strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Cf, c) }) {
					t.Errorf("%s %s is answered by %.500q", tool, arguments, text)
				}
			}
		}
		if n := changes.Load(); n > 0 {
			t.Fatalf("%s %s has made %d changes", tool, arguments, n)
		}
		if err := session.Ping(t.Context(), nil); err != nil {
			t.Fatalf("after %s %s: %v", tool, arguments, err)
		}
	})
}
