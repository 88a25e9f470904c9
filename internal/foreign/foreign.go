// Package foreign makes names and fields of jobs out of the texts of other schedulers, which imports read.
package foreign

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// maxPlain leaves room in a slug for a number.
const maxPlain = 48

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Slug returns a slug for a name, of at most 48 bytes: "demoJobHandler" is demo-job-handler. It is empty if
// nothing of the name can be in one.
func Slug(name string) string {
	return job.Slug(hump.ReplaceAllString(name, "$1-$2"), maxPlain)
}

// Line returns a text as one line of at most so many bytes.
func Line(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most-len("…")], "")) + "…"
	}
	return text
}

// Params returns what handlers and scripts receive: an object or a list as it is, anything else as text. It
// is nil for an empty text.
func Params(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil // cannot happen: any string can be JSON
	}
	return quoted
}
