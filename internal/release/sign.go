package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// keyVariable has the key that releases are signed with.
const keyVariable = "CARILLON_RELEASE_KEY"

// publicKeyFile is the public key in a release. Who downloads a release compares it with the
// key of the repository.
const publicKeyFile = "carillon.pub"

func releaseKey() (ed25519.PrivateKey, error) {
	text := os.Getenv(keyVariable)
	if text == "" {
		return nil, fmt.Errorf("%s is empty; want an Ed25519 key in PEM, as `openssl genpkey -algorithm ed25519` makes it", keyVariable)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New(keyVariable + " is no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyVariable, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is a %T; want an Ed25519 key", keyVariable, key)
	}
	return private, nil
}

// useNewKey makes a key for this process and those that it starts.
func useNewKey() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	return os.Setenv(keyVariable, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

func writePublicKey(file string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644) //nolint:gosec // public
}

func readPublicKey(file string) (ed25519.PublicKey, error) {
	text, err := os.ReadFile(file) //nolint:gosec // what the caller names
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New(file + " is no PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s is a %T; want an Ed25519 key", file, key)
	}
	return public, nil
}

// sign writes the 64 bytes of a file's signature.
func sign(file, signature string) error {
	key, err := releaseKey()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file) //nolint:gosec // what the caller names
	if err != nil {
		return err
	}
	return os.WriteFile(signature, ed25519.Sign(key, text), 0o644) //nolint:gosec // public
}
