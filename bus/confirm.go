package bus

import (
	"crypto/subtle"
	"time"
)

// domainConfirm begins what a confirmation says.
const domainConfirm = "carillon confirm 1\x00"

func appendConfirm(dst []byte) []byte { return append(dst, domainConfirm...) }

// Confirmation returns a token that a client gets for a text, and sends back to any server. It says nothing to
// a reader of messages.
func (t *Tokens) Confirmation(text []byte, now time.Time) string {
	return t.signer(now).token(appendConfirm, text)
}

// Confirms reports whether token is the [Tokens.Confirmation] of a text.
func (t *Tokens) Confirms(token string, text []byte) bool {
	id, sum, rest, ok := parseToken(token)
	k := t.key(id)
	if !ok || rest != "" || k == nil {
		return false
	}
	same := false
	k.sign(appendConfirm, text, func(want []byte) { same = subtle.ConstantTimeCompare(sum[:], want) == 1 })
	return same
}
