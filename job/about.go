package job

import (
	"slices"
	"strings"
	"unicode"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Bounds of what a job says of itself, in bytes but for MaxTags.
const (
	MaxTitle = 200
	MaxOwner = 100
	MaxTags  = 20
	MaxTag   = 63
)

// validateAbout checks what people find a job by, and nothing else depends on.
func (j Job) validateAbout() (errs []error) {
	errs = append(errs, checkLine("title", j.Title, MaxTitle)...)
	errs = append(errs, checkLine("owner", j.Owner, MaxOwner)...)
	if len(j.Description) > MaxDescription {
		errs = append(errs, Invalid("description", "has %d bytes; at most %d are kept", len(j.Description), MaxDescription))
	}
	if len(j.Tags) > MaxTags {
		errs = append(errs, Invalid("tags", "has %d entries; at most %d are allowed", len(j.Tags), MaxTags))
	}
	for i, tag := range j.Tags {
		switch {
		case !isTag(tag):
			errs = append(errs, Invalid("tags", "%q must be letters, digits, '-', '_' and '.', at most %d bytes of them", clip.Text(tag, maxQuoted), MaxTag))
		case slices.Contains(j.Tags[:i], tag):
			errs = append(errs, Invalid("tags", "has %q twice", tag))
		}
	}
	return errs
}

// checkLine checks a line of text that people read, of so many bytes at most.
func checkLine(field, s string, most int) []error {
	switch {
	case len(s) > most:
		return []error{Invalid(field, "has %d bytes; at most %d are kept", len(s), most)}
	case strings.TrimSpace(s) != s:
		return []error{Invalid(field, "%q must not begin or end with a space", clip.Text(s, maxQuoted))}
	case strings.ContainsFunc(s, unicode.IsControl):
		return []error{Invalid(field, "%q must be one line of text", clip.Text(s, maxQuoted))}
	}
	return nil
}

// isTag reports whether s can be a tag: letters may be those of any language.
func isTag(s string) bool {
	return s != "" && len(s) <= MaxTag && strings.IndexFunc(s, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	}) < 0
}
