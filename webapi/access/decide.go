package access

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Requester is who asked for a run.
type Requester struct {
	User    string // "" if a schedule did
	Unknown bool   // the history has no longer what tells it
}

// WhyNotDecide returns why somebody may not decide about an approval by these people in a group, as far as their rights are by
// now; "" if they may. Where the requester must not and is unknown, nobody may.
func WhyNotDecide(who *auth.Identity, group string, requester Requester, by []string, notByRequester bool) string {
	named := slices.ContainsFunc(by, func(entry string) bool {
		if user, ok := strings.CutPrefix(entry, "user:"); ok {
			return user == who.User && (who.How != rights.ByToken || who.Access.May(rights.Operator, group))
		}
		role, ok := strings.CutPrefix(entry, "role:")
		return ok && slices.Contains(rights.Roles, rights.Role(role)) && who.Access.May(rights.Role(role), group)
	})
	switch {
	case !named:
		return refusal.ApprovalNotListed.With(strings.Join(by, ", "))
	case notByRequester && requester.Unknown:
		return refusal.ApprovalNotKnown.String()
	case notByRequester && requester.User != "" && requester.User == who.User:
		return refusal.ApprovalByRequester.With(requester.User)
	}
	return ""
}
