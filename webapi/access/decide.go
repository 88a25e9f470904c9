package access

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// WhyNotDecide returns why somebody may not decide about an approval by these people in a group, as far as their rights are by
// now; "" if they may.
func WhyNotDecide(who *auth.Identity, group, requester string, by []string, notByRequester bool) string {
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
	case notByRequester && requester != "" && requester == who.User:
		return refusal.ApprovalByRequester.With(requester)
	}
	return ""
}
