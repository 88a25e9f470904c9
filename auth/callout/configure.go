package callout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// accountExecutors is where nats.conf has those with a credential.
const accountExecutors = "EXECUTORS"

// The lines of nats.conf that admit whoever reaches the server. [Configure] replaces
// them.
const (
	localUser   = "    users: [{user: local}]\n"
	systemUsers = "    users: []\n"
	localAccess = "no_auth_user: local\n"
)

// operatorUser is a user of SYS who keeps a cluster of NATS servers in order. Reports on connections and
// subscriptions are not among those for them: they have the subjects on which executors are controlled,
// which nobody must know.
const operatorUser = `    # A NATS administrator, who may report on all servers, and take a lost one out of the cluster.
    {
      nkey: %s
      permissions {
        publish: [
          "$SYS.REQ.SERVER.PING", "$SYS.REQ.SERVER.PING.STATSZ", "$SYS.REQ.SERVER.PING.VARZ", "$SYS.REQ.SERVER.PING.JSZ"
          "$SYS.REQ.SERVER.PING.HEALTHZ", "$SYS.REQ.SERVER.PING.ROUTEZ", "$SYS.REQ.SERVER.PING.RAFTZ"
          "$JS.API.SERVER.REMOVE", "$JS.API.META.LEADER.STEPDOWN"
        ]
        subscribe: ["_INBOX.>"]
      }
    }
`

// Configure returns nats.conf with keys in the place of the user whom anybody may be,
// and with operators, by their public keys. The error is job.ErrInvalid when conf is not
// nats.conf in that respect, or an operator's key is another's, too.
func Configure(conf string, keys Public, operators ...string) (string, error) {
	var others strings.Builder
	users := []string{keys.Server, keys.System}
	for _, key := range operators {
		if slices.Contains(users, key) {
			return "", &job.InvalidError{Field: "operator", Reason: "has the key of a server or of another operator; create one for each with \"carillon nats keygen --operator\""}
		}
		users = append(users, key)
		fmt.Fprintf(&others, operatorUser, key)
	}
	for _, with := range []struct{ line, text string }{
		{localUser, fmt.Sprintf("    users: [{nkey: %s}]\n", keys.Server)},
		{systemUsers, fmt.Sprintf(`    # Carillon's servers again, where they answer for executors, and cut off those
    # whose credential has ended. They may do nothing else here.
    users: [{
      nkey: %s
      permissions {
        publish: ["$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.SERVER.*.CONNZ", "$SYS.REQ.SERVER.*.KICK"]
        subscribe: ["$SYS.REQ.USER.AUTH", "$SYS.ACCOUNT.EXECUTORS.DISCONNECT", "_INBOX.>"]
        allow_responses: true
      }
    }
%s    ]
`, keys.System, others.String())},
		{localAccess, fmt.Sprintf(`authorization {
  # In seconds: how long a connection may take until it is admitted.
  timeout: 5

  # Who is not listed above may be an executor: Carillon is asked. Other accounts
  # and their users, if you add some, are not its business.
  auth_callout {
    issuer: %s
    account: SYS
    auth_users: [%s]
    allowed_accounts: [EXECUTORS]
  }
}
`, keys.Issuer, strings.Join(users, ", "))},
	} {
		if strings.Count(conf, with.line) != 1 {
			return "", fmt.Errorf("%w: the configuration must have the line %q once", job.ErrInvalid, strings.TrimSpace(with.line))
		}
		conf = strings.Replace(conf, with.line, with.text, 1)
	}
	conf = strings.Replace(conf, localComment, "", 1)
	return conf, nil
}

// localComment is what nats.conf says of localAccess.
const localComment = `# Whoever says nothing of themselves is this user, of CARILLON, who may do
# everything: fit for one's own machine. "carillon nats config" writes this file
# with keys in its place.
`
