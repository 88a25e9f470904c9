package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// Executors has the public keys with which a server asks Carillon who may be an
// executor.
type Executors struct {
	Server string // of the user of account CARILLON
	System string // of the user of account SYS, who answers
	Issuer string // of who signs the answers
}

// authTimeout is how long a connection may take until it is admitted, in seconds.
const authTimeout = 5

// apply does what the lines do that callout.Configure writes into a configuration.
func (e *Executors) apply(opts *server.Options) error {
	accounts := map[string]*server.Account{}
	for _, a := range opts.Accounts {
		accounts[a.Name] = a
	}
	for _, u := range []struct{ key, account string }{{e.Server, "CARILLON"}, {e.System, "SYS"}} {
		account, ok := accounts[u.account]
		if !ok {
			return fmt.Errorf("check credentials of executors: the configuration has no account %s, as nats.conf does", u.account)
		}
		opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: u.key, Account: account})
	}
	opts.AuthCallout = &server.AuthCallout{
		Issuer: e.Issuer, Account: "SYS", AuthUsers: []string{e.Server, e.System}, AllowedAccounts: []string{"EXECUTORS"},
	}
	opts.AuthTimeout = authTimeout
	return nil
}
