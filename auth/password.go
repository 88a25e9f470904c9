package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/carillon-scheduler/carillon/job"
)

// The cost of a password: argon2id with what OWASP asks for at least, 19 MiB and two
// passes. It is written into each hash, so it can be raised later.
const (
	argonTime    = 2
	argonMemory  = 19 << 10 // KiB
	argonThreads = 1
	saltLength   = 16
	keyLength    = 32
)

// minPassword and maxPassword bound a password: at least so many characters, at most
// so many bytes.
const (
	minPassword = 12
	maxPassword = 256
)

// checkPassword returns an *job.InvalidError for field "password" unless user may have
// it. Length is what counts: rules about digits and signs make people write them down.
func checkPassword(password, user string) error {
	bad := func(reason string) error { return &job.InvalidError{Field: "password", Reason: reason} }
	switch {
	case !utf8.ValidString(password):
		return bad("must be UTF-8")
	case utf8.RuneCountInString(password) < minPassword:
		return bad(fmt.Sprintf("must have at least %d characters", minPassword))
	case len(password) > maxPassword:
		return bad(fmt.Sprintf("must have at most %d bytes", maxPassword))
	case user != "" && strings.Contains(strings.ToLower(password), user) && len(password) < len(user)+minPassword:
		return bad("must not be made of the user's name")
	case strings.Count(password, password[:1]) == len(password):
		return bad("must not be one character repeated")
	}
	return nil
}

// hasher computes password hashes, a few at a time: each takes 19 MiB, and whoever
// can connect can ask for one.
type hasher struct {
	slots  chan struct{}
	memory uint32 // KiB, of the hashes that it makes
}

func newHasher(atOnce int) hasher { return hasher{make(chan struct{}, atOnce), argonMemory} }

// argonCost is what one hash costs to compute. memory is in KiB.
type argonCost struct {
	time, memory uint32
	threads      uint8
}

func (h hasher) key(ctx context.Context, password string, salt []byte, cost argonCost, length uint32) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: hash password: %w", job.ErrUnavailable, context.Cause(ctx))
	}
	return argon2.IDKey([]byte(password), salt, cost.time, cost.memory, cost.threads, length), nil
}

// hash returns a password's hash with its parameters, in PHC format.
func (h hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	key, err := h.key(ctx, password, salt, argonCost{argonTime, h.memory, argonThreads}, keyLength)
	if err != nil {
		return "", err
	}
	text := base64.RawStdEncoding.EncodeToString
	return phc(h.memory, text(salt), text(key)), nil
}

// errHash means that what is stored is no hash of ours.
var errHash = errors.New("the stored password hash is damaged")

// verify reports whether the password is the hash's.
func (h hasher) verify(ctx context.Context, password, stored string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false, errHash
	}
	var version int
	var cost argonCost
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.memory, &cost.time, &cost.threads); err != nil || cost.time < 1 || cost.threads < 1 || cost.memory > 1<<20 {
		return false, errHash
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
	want, errKey := base64.RawStdEncoding.DecodeString(parts[5])
	if errSalt != nil || errKey != nil || len(want) < 16 || len(want) > 64 {
		return false, errHash
	}
	got, err := h.key(ctx, password, salt, cost, uint32(len(want))) //nolint:gosec // at most 64
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// nobodysHash is verified in the place of that of a user who does not exist or has no
// password, so that the time an answer takes does not tell.
func (h hasher) nobodysHash() string {
	zero := func(n int) string { return base64.RawStdEncoding.EncodeToString(make([]byte, n)) }
	return phc(h.memory, zero(saltLength), zero(keyLength))
}

// phc writes a hash with its parameters, in PHC format.
func phc(memory uint32, salt, key string) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, argonTime, argonThreads, salt, key)
}
