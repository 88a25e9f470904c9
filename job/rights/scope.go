package rights

import "slices"

// Scope is a kind of requests to which a token can be limited, besides the roles that it has.
type Scope string

// Signal is to send signals to runs: a token of it is for a webhook, which then cannot run jobs.
const Signal Scope = "signal"

// Scopes lists all scopes.
var Scopes = []Scope{Signal}

// Only is what a token is limited to. Empty is no limit.
type Only []Scope

// Allows reports whether requests of a scope are within the limit; of is empty for those of none.
func (o Only) Allows(of Scope) bool { return len(o) == 0 || slices.Contains(o, of) }
