package auth

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// User is somebody, or some program, that signs in. Its JSON is what the bucket
// holds, with secrets' hashes: package webapi shows a part of it.
type User struct {
	// Name is the user's name: see [CheckUserName].
	Name string `json:"name"`
	// ID tells users apart who have had the same name, so that what belongs to a
	// deleted one is not its successor's.
	ID          string      `json:"id"`
	DisplayName string      `json:"display_name,omitempty"`
	Access      rights.List `json:"access"`
	Disabled    bool        `json:"disabled,omitempty"`
	// Password is the hash of the user's password, empty for one who has none.
	Password string `json:"password,omitempty"`
	// External is who the user is for an OIDC provider: its issuer, a space and the
	// subject. Empty for one who signs in with a password.
	External string `json:"external,omitempty"`
	// VouchedUntil is when the tokens of such a user begin to rest, until the provider
	// signs the user in again: it may not know them any more.
	VouchedUntil time.Time `json:"vouched_until,omitzero"`
	// Invitation is the digest of the newest one-time link, the only one that works; empty
	// once the user has a password of a later time.
	Invitation string `json:"invitation,omitempty"`
	// Generation changes when all of the user's sessions are to end.
	Generation string    `json:"generation"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`

	Revision uint64 `json:"-"`
}

var userName = regexp.MustCompile(`^[a-z0-9]+([._@-][a-z0-9]+)*$`)

// CheckUserName returns an *job.InvalidError for field "user" unless name can be one:
// lower-case letters and digits, with single '.', '-', '_' or '@' between them, at
// most 128 bytes. An e-mail address can be.
func CheckUserName(name string) error {
	if len(name) > 128 || !userName.MatchString(name) {
		return &job.InvalidError{Field: "user", Reason: fmt.Sprintf("%.130q must be lower-case letters and digits, with single . - _ or @ between them, at most 128", name)}
	}
	return nil
}

// validate reports all that is wrong with what people set of a user.
func (u *User) validate() error {
	errs := []error{CheckUserName(u.Name)}
	if len(u.DisplayName) > 200 {
		errs = append(errs, &job.InvalidError{Field: "display_name", Reason: "must have at most 200 bytes"})
	}
	return errors.Join(append(errs, u.Access.Validate("access")...)...)
}

// userKey returns a name as a part of a key: keys may not have '@'.
func userKey(name string) string { return strings.ReplaceAll(name, "@", "=") }

func userOfKey(key string) string { return strings.ReplaceAll(key, "=", "@") }

// isAdministrator reports whether the user may do everything, and can sign in.
func (u *User) isAdministrator() bool {
	return !u.Disabled && (u.Password != "" || u.External != "") && u.Access.May(rights.Admin, rights.Everywhere)
}
