package ping

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
)

// Kind says what a ping tells of a run.
type Kind string

// The kinds.
const (
	Start Kind = "start"
	End   Kind = "end"
)

// Bounds of what a ping has, in bytes. The server cuts what is longer.
const (
	MaxOutput  = 64 << 10
	maxMessage = 1 << 10
	maxHost    = 255
)

// MaxExitCode is the greatest exit code that a ping can have.
const MaxExitCode = 255

// Ping is what a server is told of a run. Zero values are left out.
type Ping struct {
	Job  job.Name `json:"job"`
	Kind Kind     `json:"kind"`
	// ID is the same each time the ping is sent, so that the server counts it once.
	ID string `json:"id"`
	// Run is the run key, which the pings of a run share.
	Run     string        `json:"run"`
	Exit    *int          `json:"exit,omitempty"` // 0 to MaxExitCode, of an end
	Took    time.Duration `json:"took,omitempty"` // from start to end
	Message string        `json:"message,omitempty"`
	Host    string        `json:"host,omitempty"`
	Offset  *int          `json:"offset,omitempty"` // of the local time from UTC, in minutes
	Output  []byte        `json:"-"`                // at most MaxOutput bytes
}

// New returns a ping of a run, with an id of its own, of this host.
func New(name job.Name, kind Kind, run string) *Ping {
	_, seconds := time.Now().Zone()
	return &Ping{Job: name, Kind: kind, ID: Random(), Run: run, Host: hostName(), Offset: new(seconds / 60)}
}

// Random returns 96 random bits as 24 hexadecimal digits.
func Random() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// CheckRun returns an *InvalidError unless s can be a run key.
func CheckRun(s string) error {
	plain := strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
	if s == "" || len(s) > 64 || !plain {
		return job.Invalid("run", "%q must have 1 to 64 letters, digits, '.', '_' and '-'", s)
	}
	return nil
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return cut(name, maxHost)
}

// cut returns at most so many bytes of a text, of whole characters.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
