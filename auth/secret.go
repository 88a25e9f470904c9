package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// newSecret returns 256 random bits as text.
func newSecret() string { return strings.ToLower(rand.Text() + rand.Text()) }

// newID returns a name that nothing else has. It is no secret.
func newID() string { return strings.ToLower(rand.Text()[:16]) }

// digest returns what is stored of a secret. It needs no salt and no slow hash: there
// are too many secrets to try.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
