package webapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// announced makes a request whose body it announces and never sends, and returns the status
// of the answer.
func (w *world) announced(path string, length int, headers ...header) int {
	w.Helper()
	var d net.Dialer
	c, err := d.DialContext(w.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	w.check(err)
	defer func() { _ = c.Close() }()
	w.check(c.SetDeadline(time.Now().Add(patience)))
	var head strings.Builder
	fmt.Fprintf(&head, "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, length)
	for _, h := range headers {
		fmt.Fprintf(&head, "%s: %s\r\n", h.name, h.value)
	}
	_, err = io.WriteString(c, head.String()+"\r\n")
	w.check(err)
	response, err := http.ReadResponse(bufio.NewReader(c), nil) //nolint:bodyclose // it ends with the connection
	w.check(err)
	return response.StatusCode
}

// Their answer comes although nothing of the body has: nothing of it was waited for.
func TestStrangersBodiesAreNotRead(t *testing.T) {
	w := newGuardedWorld(t)
	ann := w.administrator()
	const x = "/api/v1/jobs/billing/x"
	made, _ := want[NewToken](w.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"x"}`, ann.headers()...)
	bearer := func(secret string) header { return header{"Authorization", "Bearer " + secret} }
	for name, headers := range map[string][]header{
		"nothing":          nil,
		"no token":         {bearer("carillon_x_y")},
		"no bearer":        {{"Authorization", "Basic YTpi"}},
		"no session":       {{"Cookie", "carillon_session=abc"}},
		"another cookie":   {{"Cookie", "x=y"}},
		"no token, though": {bearer("carillon_x_y"), {"Cookie", ann.cookie}}, // a token goes before a session
	} {
		if got := w.announced(x, guard.MaxStrangersBody+1, headers...); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
		if got := w.announced(x, guard.MaxBody+1, headers...); got != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, too much for anybody: %d", name, got)
		}
	}
	long := strings.Repeat(" ", guard.MaxStrangersBody+1)
	w.problem(http.StatusUnauthorized, "unauthenticated", "PUT", x, long, "sign in first")
	w.problem(http.StatusUnauthorized, "unauthenticated", "PUT", x, long[1:], "sign in first")

	// The others have room for theirs, until they are nobody any more.
	for _, headers := range [][]header{ann.headers(), {bearer(made.Secret)}} {
		w.problemWith(headers, http.StatusBadRequest, "invalid", "PUT", x, strings.Repeat(" ", 1<<20), "at most 262144")
		w.problemWith(headers, http.StatusRequestEntityTooLarge, "too_large", "PUT", x, strings.Repeat(" ", guard.MaxBody+1), strconv.Itoa(guard.MaxBody))
	}
	w.send("DELETE", "/api/v1/tokens/"+made.Token.ID, nil, ann.headers()...)
	w.send("POST", "/api/v1/sign-out", nil, ann.headers()...)
	for _, headers := range [][]header{ann.headers(), {bearer(made.Secret)}} {
		if got := w.announced(x, guard.MaxStrangersBody+1, headers...); got != http.StatusUnauthorized {
			t.Errorf("signed out: %d", got)
		}
	}
}

// How long such a body is shows when it has been read, so that is bounded too.
func TestABodyOfUnknownLengthIsBounded(t *testing.T) {
	w := newGuardedWorld(t)
	ann := w.administrator()
	send := func(length int, headers ...header) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.url+"/api/v1/jobs/billing/x", io.LimitReader(endless{}, int64(length)))
		w.check(err)
		r.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			r.Header.Set(h.name, h.value)
		}
		response, err := http.DefaultClient.Do(r)
		w.check(err)
		w.check(response.Body.Close())
		return response.StatusCode
	}
	for _, c := range []struct {
		length, status int
		headers        []header
	}{
		{1 << 20, http.StatusBadRequest, ann.headers()},
		{guard.MaxBody + 1, http.StatusRequestEntityTooLarge, ann.headers()},
		{guard.MaxStrangersBody - 1, http.StatusUnauthorized, nil},
		{guard.MaxStrangersBody + 1, http.StatusRequestEntityTooLarge, nil},
	} {
		if got := send(c.length, c.headers...); got != c.status {
			t.Errorf("%d bytes: %d, want %d", c.length, got, c.status)
		}
	}
}

// endless is a body of spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
