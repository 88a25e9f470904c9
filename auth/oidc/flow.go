package oidc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"github.com/carillon-scheduler/carillon/auth"
)

// FlowLife is how long somebody may take to sign in at a provider.
const FlowLife = 10 * time.Minute

// Flow is a sign-in that has begun. The browser that began it keeps it, in a cookie:
// so only that browser can finish it, and servers keep nothing for people who never
// come back.
type Flow struct {
	State    string `json:"state"`    // comes back with the code
	Verifier string `json:"verifier"` // of PKCE: whoever redeems the code must know it
	Nonce    string `json:"nonce"`    // is in the ID token
	To       string `json:"to"`       // where the console is to go on
}

// NewFlow returns a sign-in that begins.
func NewFlow(to string) Flow {
	return Flow{State: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), To: to}
}

// Cookie returns the flow as a cookie's value, which [ParseFlow] reads.
func (f Flow) Cookie() (string, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encode sign-in: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

// ParseFlow reads the cookie of a browser to which a provider has handed back a state.
// The error is auth.ErrUnauthenticated unless that browser has begun this sign-in.
func ParseFlow(cookie, state string) (Flow, error) {
	var f Flow
	data, err := base64.RawURLEncoding.DecodeString(cookie)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil || state == "" || f.State != state || f.Verifier == "" || f.Nonce == "" {
		return Flow{}, fmt.Errorf("%w: this browser has not begun that sign-in, or too long ago", auth.ErrUnauthenticated)
	}
	return f, nil
}
