package job

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// HTTP is a request. URL, Headers, Body and Auth may contain ${NAME}, where NAME is
// one of [Variables], of the task's env or secrets, or params.FIELD for a field of the
// run's parameters; in URL, the value is escaped.
type HTTP struct {
	// Method is GET when it is empty.
	Method string `json:"method,omitempty"`
	// URL begins with http:// or https://.
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is sent as it is. When it is empty, POST, PUT and PATCH send the run's
	// parameters as JSON, if it has any.
	Body string   `json:"body,omitempty"`
	Auth HTTPAuth `json:"auth,omitzero"`
	// Success lists the statuses that make the run succeed: "204", "2xx" or "200-299".
	// Empty is 2xx.
	Success []string `json:"success,omitempty"`
	// FollowRedirects has up to ten redirects followed. Otherwise one is an answer like
	// any other.
	FollowRedirects bool `json:"follow_redirects,omitempty"`
}

// HTTPAuth is the value of the Authorization header: that of a bearer, or of a user
// with a password.
type HTTPAuth struct {
	Bearer   string `json:"bearer,omitempty"`
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"`
}

// HTTPMethods lists the methods that a request may have.
var HTTPMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Verb returns the request's method.
func (h *HTTP) Verb() string {
	if h.Method == "" {
		return "GET"
	}
	return h.Method
}

// Succeeds reports whether an answer with this status makes the run succeed.
func (h *HTTP) Succeeds(status int) bool {
	if len(h.Success) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.ContainsFunc(h.Success, func(s string) bool {
		from, to, ok := statuses(s)
		return ok && status >= from && status <= to
	})
}

// statuses reads "204", "2xx" or "200-299".
func statuses(s string) (from, to int, ok bool) {
	if class, found := strings.CutSuffix(s, "xx"); found && len(class) == 1 {
		s = class + "00-" + class + "99"
	}
	low, high, ranged := strings.Cut(s, "-")
	if !ranged {
		high = low
	}
	from, err1 := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	return from, to, err1 == nil && err2 == nil && from >= 100 && to <= 599 && from <= to
}

// validate checks h, which belongs to t.
func (h *HTTP) validate(t Task) []error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, Invalid("task.http."+field, format, args...))
	}
	expands := func(field, text string) {
		if _, err := Expand(text, func(name string) (string, error) { return "", t.checkVariable(name) }); err != nil {
			wrong(field, "%s", reasonOf(err))
		}
	}
	if !slices.Contains(HTTPMethods, h.Verb()) {
		wrong("method", "%q must be one of %s", clip.Text(h.Method, maxQuoted), strings.Join(HTTPMethods, ", "))
	}
	if why := urlProblem(h.URL); why != "" {
		wrong("url", "%q %s", clip.Text(h.URL, maxQuoted), why)
	}
	expands("url", h.URL)
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		field := fmt.Sprintf("headers[%q]", clip.Text(name, maxQuoted))
		if !isToken(name) || strings.ContainsAny(h.Headers[name], "\r\n\x00") {
			wrong(field, "must be a header's name and a value of one line")
		}
		expands(field, h.Headers[name])
	}
	if len(h.Body) > MaxShell {
		wrong("body", "has %d bytes; at most %d travel with a trigger", len(h.Body), MaxShell)
	}
	if h.Body != "" && (h.Verb() == "GET" || h.Verb() == "HEAD") {
		wrong("body", "is set, but %s has none", h.Verb())
	}
	expands("body", h.Body)
	if h.Auth.Bearer != "" && (h.Auth.User != "" || h.Auth.Password != "") {
		wrong("auth", "must have either bearer, or user and password")
	}
	expands("auth.bearer", h.Auth.Bearer)
	expands("auth.user", h.Auth.User)
	expands("auth.password", h.Auth.Password)
	for i, s := range h.Success {
		if _, _, ok := statuses(s); !ok {
			wrong(fmt.Sprintf("success[%d]", i), "%q must be a status such as \"204\", \"2xx\" or \"200-299\"", clip.Text(s, maxQuoted))
		}
	}
	return errs
}

// urlProblem says what is wrong with a URL whose variables have yet to be filled in.
func urlProblem(text string) string {
	filled, err := Expand(text, func(string) (string, error) { return "1", nil }) // fits as a host, a port and a path
	if err != nil {
		return "" // said otherwise
	}
	u, err := url.Parse(filled)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "must be an address such as https://example.com/path"
	case u.User != nil:
		return "has a user; use auth"
	}
	return ""
}

// isToken reports whether s can be a header's name.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// reasonOf returns what an error says of a field that another text names.
func reasonOf(err error) string {
	if bad, ok := errors.AsType[*InvalidError](err); ok {
		return bad.Reason
	}
	return err.Error()
}
