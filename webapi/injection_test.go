package webapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// logged is what a server logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// raw sends a request as it is written, which no client would, and returns the answer.
func (w *world) raw(request string) string {
	w.Helper()
	conn, err := (&net.Dialer{}).DialContext(w.Context(), "tcp", w.server.Addr().String())
	w.check(err)
	defer func() { _ = conn.Close() }()
	w.check(conn.SetDeadline(time.Now().Add(patience)))
	_, err = conn.Write([]byte(request))
	w.check(err)
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(conn) // until the other side has closed
	return answer.String()
}

func TestNoPathLeadsOutOfTheConsole(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/assets/../../../../etc/passwd", "/assets/..%5c..%5cetc%5cpasswd",
		"//etc/passwd", "/.%00./etc/passwd", "/assets/%2e%2e%2f%2e%2e%2fgo.mod", "/embed.go", "/../embed.go",
		"/api/v1/jobs/..%2f..%2fetc/passwd", "/api/v1/jobs/%2e%2e/x", "/api/v1/groups/..%2fx/secrets", "/api/v1/calendars/..%2f..%2fx", "/api/v1/alerts/rules/..%2fchannel.x",
		"/api/v1/alerts/channels/%3e", "/api/v1/jobs/*/%3e", "/api/v1/alerts/incidents/..%2f%3e",
	} {
		answer := w.raw(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path))
		status, _, _ := strings.Cut(answer, "\r\n")
		if !strings.HasPrefix(status, "HTTP/1.1 ") || strings.Contains(answer, "root:") || strings.Contains(answer, "module carillon") || strings.Contains(answer, "package frontend") || strings.HasPrefix(status, "HTTP/1.1 5") {
			t.Errorf("%s: %.200s", path, answer)
		}
		if strings.HasPrefix(path, "/api/") && strings.HasPrefix(status, "HTTP/1.1 2") {
			t.Errorf("%s: %s", path, status)
		}
	}
}

func TestNobodyWritesLinesOfTheLogOrHeadersOfAnAnswer(t *testing.T) {
	log := &logged{}
	w := newWorld(t, func(c *Config, _ *world) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	forged := "x%0d%0aSet-Cookie:%20stolen=1%0d%0atime=2026-01-05T03:00:00Z%20level=ERROR%20msg=forged"
	for _, request := range []string{
		"GET /api/v1/jobs/" + forged + "/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /api/v1/jobs?q=" + forged + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /api/v1/runs?cursor=" + forged + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /" + forged + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"PUT /api/v1/calendars/" + forged + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
		"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a\x1b[2Jb\tlevel=ERROR msg=forged\r\nCarillon-User: ann\tmsg=forged\r\nX-Request-Id: a b\x7f\r\nConnection: close\r\n\r\n",
		"GET /api/v1/audit-log/export?user=" + forged + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	} {
		head, _, _ := strings.Cut(w.raw(request), "\r\n\r\n")
		if strings.Contains(strings.ToLower(head), "stolen=1") && strings.Contains(strings.ToLower(head), "\r\nset-cookie") {
			t.Errorf("%q gets a header of its own: %s", request, head)
		}
	}
	for _, line := range log.lines() {
		if !strings.HasPrefix(line, "time=") || strings.HasPrefix(line, "time=2026-01-05T03:00:00Z") || strings.ContainsAny(line, "\x1b\x7f\t") {
			t.Errorf("a line of the log that we did not write so: %q", line)
		}
	}
}

func TestAMessageWithLinesIsNoLinesOfAnExport(t *testing.T) {
	w := newWorld(t)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/x", map[string]any{"calendar": "x", "description": "a\r\n2026-01-05T03:00:00Z,root,local,,,putJob,job a/b,,done,,\n=HYPERLINK(\"http://evil\")"})
	a := w.send("GET", "/api/v1/audit-log/export?format=csv", nil)
	if a.status != http.StatusOK || strings.Contains(a.text, "\n2026-01-05T03:00:00Z,root") || strings.Contains(a.text, "\n=HYPERLINK") {
		t.Errorf("export: %d %s", a.status, a.text)
	}
}
