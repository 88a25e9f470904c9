package job

import (
	"math/bits"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// maxQuoted is how much of an input an error quotes, in bytes.
const maxQuoted = 80

// MaxSlug is the greatest length of a group's or a job's name, in bytes.
const MaxSlug = 63

// Name is a job's identity, "group/name". Both parts are slugs: lower-case letters,
// digits, '-' and '_', the first a letter or a digit, at most [MaxSlug] bytes. A slug
// can therefore be a token of a NATS subject, a part of a KV key and of a URL.
type Name string

// ParseName returns s as a Name. Its error is an *InvalidError for field "job".
func ParseName(s string) (Name, error) {
	if s == "" {
		return "", Invalid("job", "is missing: GROUP/NAME, for example billing/nightly-report")
	}
	group, name, ok := strings.Cut(s, "/")
	if !ok || !isSlug(group) || !isSlug(name) {
		return "", Invalid("job", "%q must be GROUP/NAME, each of 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit, for example billing/nightly-report", clip.Text(s, maxQuoted))
	}
	return Name(s), nil
}

// CheckSlug returns an *InvalidError for field unless s is a slug.
func CheckSlug(field, s string) error {
	if !isSlug(s) {
		return Invalid(field, "%q must be 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit", clip.Text(s, maxQuoted))
	}
	return nil
}

func isSlug(s string) bool {
	if s == "" || len(s) > MaxSlug || s[0] == '-' || s[0] == '_' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Group returns the executor group that runs the job.
func (n Name) Group() string {
	group, _, _ := strings.Cut(string(n), "/")
	return group
}

// Short returns the name within its group.
func (n Name) Short() string {
	_, short, _ := strings.Cut(string(n), "/")
	return short
}

// Hash returns a well-mixed number that depends on the name alone. It places jobs
// in shards, spreads dispatches and resolves H in cron expressions, so it is part
// of the format and never changes: FNV-1a over the name's bytes, then the
// finalizer of MurmurHash3.
func (n Name) Hash() uint64 {
	h := uint64(14695981039346656037)
	for i := range len(n) {
		h = (h ^ uint64(n[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Shard returns which of total shards the job belongs to. total is fixed when a
// cluster is made.
func (n Name) Shard(total int) int {
	hi, _ := bits.Mul64(n.Hash(), uint64(total)) //nolint:gosec // a count of shards is positive
	return int(hi)                               //nolint:gosec // less than total
}

// Slug makes a slug of at most that many bytes from text: what no slug may have becomes '-', once for
// each stretch of it. It is empty if nothing of the text can be in a slug.
func Slug(text string, most int) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-_")
	return strings.TrimRight(s[:min(len(s), most)], "-_")
}
