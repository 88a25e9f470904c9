package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

const payloadType = "application/vnd.in-toto+json"

// envelope is a DSSE envelope. JSON writes its bytes in base64, as DSSE asks for.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"`
}

// statement is in-toto's, about files with SHA-256 digests.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []subject  `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest"`
}

// provenance is SLSA's, version 1.
type provenance struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []subject         `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// attest writes a signed statement of how the files in a list of checksums were built.
func attest(s source, checksums, file string) error {
	key, err := releaseKey()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(checksums) //nolint:gosec // what the caller names
	if err != nil {
		return err
	}
	st := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for sum, err := range readChecksums(text) {
		if err != nil {
			return fmt.Errorf("%s: %w", checksums, err)
		}
		st.Subject = append(st.Subject, subject{Name: sum.name, Digest: map[string]string{"sha256": sum.sha256}})
	}
	def := &st.Predicate.BuildDefinition
	def.BuildType = repository + "/blob/main/internal/release"
	def.ExternalParameters = map[string]string{"version": s.name()}
	def.InternalParameters = map[string]string{"go": runtime.Version()}
	def.ResolvedDependencies = []subject{{URI: "git+" + repository, Digest: map[string]string{"gitCommit": s.commit}}}
	if st.Predicate.RunDetails.Builder.ID = os.Getenv("CARILLON_RELEASE_BUILDER"); st.Predicate.RunDetails.Builder.ID == "" {
		st.Predicate.RunDetails.Builder.ID = repository + "/blob/main/CONTRIBUTING.md#releases"
	}
	payload, err := json.Marshal(st)
	if err != nil {
		return err
	}
	id, err := keyID(key.Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	e := envelope{payloadType, payload, []signature{{id, ed25519.Sign(key, signedBytes(payload))}}}
	out, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(out, '\n'), 0o644) //nolint:gosec // public
}

// openEnvelope returns the statement of an envelope that the key has signed.
func openEnvelope(text []byte, key ed25519.PublicKey) (st statement, err error) {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return st, err
	}
	if e.PayloadType != payloadType || len(e.Signatures) != 1 || !ed25519.Verify(key, signedBytes(e.Payload), e.Signatures[0].Sig) {
		return st, errors.New("the signature does not verify")
	}
	return st, json.Unmarshal(e.Payload, &st)
}

// signedBytes is DSSE's pre-authentication encoding.
func signedBytes(payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// keyID is the SHA-256 of a public key, as Sigstore writes it.
func keyID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// checksum is a line of a list as sha256sum prints it.
type checksum struct{ sha256, name string }

func readChecksums(text []byte) func(yield func(checksum, error) bool) {
	return func(yield func(checksum, error) bool) {
		for line := range strings.Lines(string(text)) {
			sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || strings.ContainsAny(name, `/\`) {
				yield(checksum{}, fmt.Errorf("%q is no line of checksums", line))
				return
			}
			if !yield(checksum{sum, name}, nil) {
				return
			}
		}
	}
}
