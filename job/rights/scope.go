package rights

import (
	"slices"
	"strings"
)

// Scope is a kind of requests to which a token can be limited, besides the roles that it has.
type Scope string

// The scopes. An operation that names none of them refuses every token that is limited, so that new operations
// are closed to those.
const (
	Signal Scope = "signal" // send signals to runs: for a webhook, which then cannot run jobs
	Ping   Scope = "ping"   // report runs that are done elsewhere: for the machines that do them
	Start  Scope = "start"  // run jobs: for applications
)

// Scopes lists all scopes.
var Scopes = []Scope{Signal, Ping, Start}

// Only is what a token is limited to. Empty is no limit.
type Only []Scope

// String returns the scopes for people.
func (o Only) String() string {
	texts := make([]string, len(o))
	for i, s := range o {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}

// Allows reports whether requests of a scope are within the limit; of is empty for those of none.
func (o Only) Allows(of Scope) bool { return len(o) == 0 || slices.Contains(o, of) }
