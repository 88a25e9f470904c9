package bus

import (
	"crypto/rand"
	"log/slog"
	"regexp"
	"strings"
)

// How long the secret part of a subject is: 22 letters and digits have 130 bits.
const (
	minSecret = 22
	maxSecret = 64
)

// NewControlSecret returns a secret that nobody can guess.
func NewControlSecret() string { return rand.Text() }

func validSecret(s string) bool {
	return len(s) >= minSecret && len(s) <= maxSecret && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// addressed matches subjects of requests to instances.
var addressed = regexp.MustCompile(`\bexec\.([^.\s"]+)\.[^\s"]+`)

// HideSecrets returns a text without the secrets of the subjects of requests that it quotes.
// NATS quotes subjects in its errors.
func HideSecrets(text string) string { return addressed.ReplaceAllString(text, "exec.$1.…") }

// Address is where one instance takes requests. It prints and encodes as the instance's
// name, without the secret.
type Address struct{ group, instance, secret string }

// NewAddress returns the address of an instance with a control secret.
func NewAddress(group, instance, secret string) Address { return Address{group, instance, secret} }

// Subject returns where the instance takes a request; verb is one of [InstanceVerbs], or
// "*". Whoever knows it can control the instance: it must not be shown or logged.
func (a Address) Subject(verb string) string {
	return "exec." + a.group + "." + a.instance + "-" + a.secret + "." + verb
}

// Verb is the inverse of Subject. It returns "" for any other subject: what JetStream
// delivers keeps the subject that it was stored under, whoever hears it.
func (a Address) Verb(subject string) string {
	verb, ours := strings.CutPrefix(subject, a.Subject(""))
	if !ours {
		return ""
	}
	return verb
}

// Instance returns the name of the instance.
func (a Address) Instance() string { return a.instance }

// String returns the group and the name of the instance.
func (a Address) String() string { return a.group + "/" + a.instance }

// GoString is String.
func (a Address) GoString() string { return a.String() }

// LogValue is String.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }
