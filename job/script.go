package job

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// MaxScript bounds a script, in bytes.
const MaxScript = 128 << 10

// Script is a program. Its arguments are the run's parameters, and the index and the
// total of its piece. A job's versions hold Source or Digest; triggers, which many
// runs make, hold Digest.
type Script struct {
	Language string `json:"language"` // one of Languages
	// Source is the text of the program.
	Source string `json:"source,omitempty"`
	// Digest names a text that the group has already, by its SHA-256 in hexadecimal.
	Digest string `json:"digest,omitempty"`
}

// Interpreted lists the languages of scripts that the stock executor can run.
var Interpreted = []string{"shell", "python", "node", "php", "powershell", "starlark"}

// Groovy is the language of XXL-JOB's GLUE in Java. Only executors of XXL-JOB run it: their library
// compiles it.
const Groovy = "groovy"

// Languages lists the languages of scripts.
var Languages = append(slices.Clone(Interpreted), Groovy)

// DigestOf returns the name of a script's text.
func DigestOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}

// ByDigest returns the task as triggers carry it: with a script's digest in the place
// of its source.
func (t Task) ByDigest() Task {
	if t.Script != nil && t.Script.Source != "" {
		t.Script = &Script{Language: t.Script.Language, Digest: DigestOf(t.Script.Source)}
	}
	return t
}

func (s *Script) validate() []error {
	var errs []error
	if !slices.Contains(Languages, s.Language) {
		errs = append(errs, Invalid("task.script.language", "%q must be one of %s", clip.Text(s.Language, maxQuoted), strings.Join(Languages, ", ")))
	}
	if (s.Source == "") == (s.Digest == "") {
		errs = append(errs, Invalid("task.script", "must have either source or digest"))
	}
	if len(s.Source) > MaxScript {
		errs = append(errs, Invalid("task.script.source", "has %d bytes; at most %d are kept", len(s.Source), MaxScript))
	}
	if strings.ContainsRune(s.Source, 0) {
		errs = append(errs, Invalid("task.script.source", "has a NUL byte"))
	}
	if s.Digest != "" && !IsDigest(s.Digest) {
		errs = append(errs, Invalid("task.script.digest", "%q must be a SHA-256 as 64 hexadecimal digits in lower case", clip.Text(s.Digest, maxQuoted)))
	}
	return errs
}

// IsDigest reports whether s has the form of what [DigestOf] returns.
func IsDigest(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 2*sha256.Size
}
