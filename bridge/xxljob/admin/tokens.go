package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/job"
)

// DefaultToken is what XXL-JOB ships with, so everybody knows it.
const DefaultToken = "default_token"

// Tokens are the access tokens of executor groups.
type Tokens struct {
	all    string            // of the groups without one of their own; "": they have none
	of     map[string]string // by group
	public bool              // nobody needs one
}

// NoTokens lets everybody in.
func NoTokens() *Tokens { return &Tokens{public: true} }

// ReadTokens reads a file of tokens: a line with one word is the token of all groups, and one with two
// is an AppName, or its group, and the token of that. Lines that begin with # and empty ones are passed
// over. The error says which line is wrong.
func ReadTokens(text string, allowDefault bool) (*Tokens, error) {
	t := &Tokens{of: map[string]string{}}
	var errs []error
	for n, line := range strings.Split(text, "\n") {
		wrong := func(format string, args ...any) {
			errs = append(errs, &job.InvalidError{Field: "access-token-file", Reason: fmt.Sprintf("line %d: ", n+1) + fmt.Sprintf(format, args...)})
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		token := words[len(words)-1]
		switch {
		case len(words) > 2:
			wrong("has %d words; it must be TOKEN, or APPNAME TOKEN", len(words))
			continue
		case token == DefaultToken && !allowDefault:
			wrong("%s is the token that XXL-JOB ships with, which everybody knows; set another, or allow it with --allow-default-token", DefaultToken)
			continue
		}
		if len(words) == 1 {
			if t.all != "" {
				wrong("is the second token of all groups")
			}
			t.all = token
			continue
		}
		group, err := xxljob.GroupOf(words[0])
		if err != nil {
			wrong("%q names no executor group", words[0])
			continue
		}
		if t.of[group] != "" {
			wrong("is the second token of group %s", group)
		}
		t.of[group] = token
	}
	if len(errs) == 0 && t.all == "" && len(t.of) == 0 {
		errs = append(errs, &job.InvalidError{Field: "access-token-file", Reason: "has no token"})
	}
	return t, errors.Join(errs...)
}

// Of returns the token of a group; "" if it has none, or needs none.
func (t *Tokens) Of(group string) string {
	if token := t.of[group]; token != "" {
		return token
	}
	return t.all
}

// Admits reports whether a token is that of a group. It takes the same time for every wrong token.
func (t *Tokens) Admits(group, token string) bool {
	if t.public {
		return true
	}
	want := t.Of(group)
	return want != "" && same(want, token)
}

// owns reports whether a token is one that a group has for itself. The token of all groups says nothing
// about the caller's group.
func (t *Tokens) owns(group, token string) bool {
	want := t.of[group]
	return want != "" && same(want, token)
}

// admitsAny reports whether a token is one of any group.
func (t *Tokens) admitsAny(token string) bool {
	if t.public {
		return true
	}
	found := t.all != "" && same(t.all, token)
	for _, want := range t.of {
		found = same(want, token) || found
	}
	return found
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
