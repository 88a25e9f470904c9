package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The forms in which keys are written: what kind of key it is, the group, and the key
// itself, separated by dots.
const (
	masterForm = "carillon-master-1"
	groupForm  = "carillon-group-1"
	keySize    = 32
)

// ErrKey means that a secret was sealed with another key, or has been changed.
var ErrKey = errors.New("sealed with another key, or changed since")

// Master is the key of a server, from which those of all groups follow.
type Master struct {
	secret []byte
}

// NewMaster returns a new key.
func NewMaster() *Master {
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // never fails: it ends the program rather than return an error
	return &Master{secret}
}

// ParseMaster reads what [Master.Text] has written, with white space around it.
func ParseMaster(text string) (*Master, error) {
	secret, ok := cutKey(strings.TrimSpace(text), masterForm+".")
	if !ok {
		return nil, fmt.Errorf("not a master key, which begins with %s", masterForm)
	}
	return &Master{secret}, nil
}

// Text returns the key for keeping.
func (m *Master) Text() string { return masterForm + "." + encode(m.secret) }

// Group returns the key of a group.
func (m *Master) Group(group string) *Key {
	secret, err := hkdf.Key(sha256.New, m.secret, nil, "carillon secrets of group "+group, keySize)
	if err != nil {
		panic("BUG: derive a group's key: " + err.Error())
	}
	return newKey(group, secret)
}

// Key seals and opens the secrets of one group. It is safe for concurrent use.
type Key struct {
	group  string
	secret []byte
	aead   cipher.AEAD
}

// ParseKey reads what [Key.Text] has written, with white space around it.
func ParseKey(text string) (*Key, error) {
	group, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), groupForm+"."), ".")
	secret, ok := cutKey(strings.TrimSpace(text), groupForm+"."+group+".")
	if !ok {
		return nil, fmt.Errorf("not the key of a group, which begins with %s", groupForm)
	}
	return newKey(group, secret), nil
}

func newKey(group string, secret []byte) *Key {
	block, err := aes.NewCipher(secret)
	if err != nil {
		panic("BUG: use a group's key: " + err.Error())
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("BUG: use a group's key: " + err.Error())
	}
	return &Key{group, secret, aead}
}

// Text returns the key for keeping.
func (k *Key) Text() string { return groupForm + "." + k.group + "." + encode(k.secret) }

// Group returns whose key it is.
func (k *Key) Group() string { return k.group }

// ID returns a name for the key that tells nothing about it.
func (k *Key) ID() string {
	sum := sha256.Sum256([]byte("id of " + k.Text()))
	return hex.EncodeToString(sum[:6])
}

// Seal encrypts the value of a secret.
func (k *Key) Seal(name, value string) []byte {
	return k.aead.Seal(nil, nil, []byte(value), k.bound(name)) //nolint:gosec // this kind makes a nonce itself
}

// Open decrypts the value of a secret. The error is [ErrKey].
func (k *Key) Open(name string, sealed []byte) (string, error) {
	value, err := k.aead.Open(nil, nil, sealed, k.bound(name))
	if err != nil {
		return "", ErrKey
	}
	return string(value), nil
}

// bound is what a sealed secret cannot be separated from.
func (k *Key) bound(name string) []byte { return []byte(k.group + "/" + name) }

func encode(secret []byte) string { return base64.RawURLEncoding.EncodeToString(secret) }

func cutKey(text, form string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, form)
	if !ok {
		return nil, false
	}
	secret, err := base64.RawURLEncoding.DecodeString(rest)
	return secret, err == nil && len(secret) == keySize
}
