package assistant

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// Codes makes and checks codes for texts, with a key that no caller knows. It is safe for concurrent use.
type Codes interface {
	// Code returns the code of a text.
	Code(text []byte) string
	// Holds reports whether a code is that of a text.
	Holds(text []byte, code string) bool
}

// ownCodes are codes of this process.
type ownCodes struct{ key []byte }

// NewCodes returns codes that no other process makes or checks.
func NewCodes() Codes {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &ownCodes{key}
}

func (c *ownCodes) Code(text []byte) string {
	mac := hmac.New(sha256.New, c.key)
	_, _ = mac.Write(text) // it never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

func (c *ownCodes) Holds(text []byte, code string) bool {
	return hmac.Equal([]byte(c.Code(text)), []byte(code))
}
