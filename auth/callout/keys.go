package callout

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"
)

// keysPrefix begins the text of keys, so that scanners for leaked secrets know them.
const keysPrefix = "carillon-nats-1"

// Keys are what Carillon's servers need to be known to NATS, and to answer it. They are
// seeds: anybody who has them may do everything.
type Keys struct {
	Server string // of the user of the account CARILLON that servers connect as
	System string // of the user of the account SYS that this package's Service is
	Issuer string // signs what the Service answers
}

// NewKeys makes keys.
func NewKeys() (Keys, error) {
	var k Keys
	for _, one := range []struct {
		make func() (nkeys.KeyPair, error)
		to   *string
	}{{nkeys.CreateUser, &k.Server}, {nkeys.CreateUser, &k.System}, {nkeys.CreateAccount, &k.Issuer}} {
		seed, err := newSeed(one.make)
		if err != nil {
			return Keys{}, err
		}
		*one.to = seed
	}
	return k, nil
}

func newSeed(create func() (nkeys.KeyPair, error)) (string, error) {
	pair, err := create()
	if err != nil {
		return "", fmt.Errorf("make key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", fmt.Errorf("make key: %w", err)
	}
	return string(seed), nil
}

// Text returns the keys as one line, which [ParseKeys] reads.
func (k Keys) Text() string {
	return strings.Join([]string{keysPrefix, k.Server, k.System, k.Issuer}, ".")
}

// ParseKeys reads what Text returned. The error says nothing of the text: it is a
// secret.
func ParseKeys(text string) (Keys, error) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 4 || parts[0] != keysPrefix {
		return Keys{}, errors.New(`not what "carillon nats keygen" prints`)
	}
	k := Keys{Server: parts[1], System: parts[2], Issuer: parts[3]}
	if _, err := k.Public(); err != nil {
		return Keys{}, err
	}
	return k, nil
}

// Public are the public halves of Keys, which the configuration of NATS has.
type Public struct{ Server, System, Issuer string }

// Public returns the public halves.
func (k Keys) Public() (Public, error) {
	var p Public
	for _, one := range []struct {
		seed string
		kind nkeys.PrefixByte
		to   *string
	}{{k.Server, nkeys.PrefixByteUser, &p.Server}, {k.System, nkeys.PrefixByteUser, &p.System}, {k.Issuer, nkeys.PrefixByteAccount, &p.Issuer}} {
		pair, err := nkeys.FromSeed([]byte(one.seed))
		if err != nil {
			return Public{}, errors.New("damaged: a part of it is no key")
		}
		if *one.to, err = pair.PublicKey(); err != nil || nkeys.Prefix(*one.to) != one.kind {
			return Public{}, errors.New("damaged: a part of it is a key of another kind")
		}
	}
	return p, nil
}

// NewOperator makes the seed of an operator of NATS, whom [Configure] admits, or of a reader of logs.
func NewOperator() (string, error) { return newSeed(nkeys.CreateUser) }

// OperatorOf returns the public half of an operator's seed. The error says nothing of the
// seed.
func OperatorOf(seed string) (string, error) {
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
	if err != nil {
		return "", errors.New(`not what "carillon nats keygen" prints with --operator or --log-reader`)
	}
	key, err := pair.PublicKey()
	if err != nil || nkeys.Prefix(key) != nkeys.PrefixByteUser {
		return "", errors.New("a key of another kind than a user's")
	}
	return key, nil
}
