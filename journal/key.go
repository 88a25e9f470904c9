package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// KeyedRun is the run that a job has made for a key. It has no text that the caller chose, but digests.
type KeyedRun struct {
	// Key is where the bucket KEY has it: the group of the job, and a digest of the job's name and the text.
	Key     string    `json:"key"`
	RunID   job.RunID `json:"run_id"`
	Version int       `json:"version"`
	// Params and Labels are digests of what the run was given in the place of its job's; empty: it was given none.
	Params string `json:"params,omitempty"`
	Labels string `json:"labels,omitempty"`
	By     string `json:"by,omitempty"`
	// Since is when the run was accepted, Until up to when the key stands for it, once it has ended.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// KeyOf returns what a request with a key is compared by.
func KeyOf(r *bus.TriggerRequest) *KeyedRun {
	k := &KeyedRun{Key: r.Job.Group() + "." + digest([]byte(string(r.Job)+"\x00"+r.Key)), By: r.By}
	if len(r.Params) > 0 {
		k.Params = digest(canonical(r.Params))
	}
	if len(r.Labels) > 0 {
		text, _ := json.Marshal(r.Labels) // texts, in the order of their names
		k.Labels = digest(text)
	}
	return k
}

// Differs returns the fields of a request with the same key that are not those of the first one, as a list
// with commas.
func (k *KeyedRun) Differs(of *KeyedRun) string {
	var fields []string
	if k.Params != of.Params {
		fields = append(fields, "params")
	}
	if k.Labels != of.Labels {
		fields = append(fields, "labels")
	}
	return strings.Join(fields, ", ")
}

// canonical returns a JSON text with its fields in order and without white space. Numbers stay as they are
// written.
func canonical(text json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return text // which is refused
	}
	out, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return out
}

// digest returns half of a SHA-256 sum, as a part of a bucket's key.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
