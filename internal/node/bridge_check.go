package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/admin"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
)

// checkExecutor asks an executor whether it would attach, and prints what it says. The error says why it
// would not.
func (o *xxlOptions) checkExecutor(cmd *cobra.Command, address string) error {
	clean, err := wire.CleanAddress(address)
	if err != nil {
		return err
	}
	tokens := admin.NoTokens()
	if o.tokenFile != "" {
		if tokens, err = o.tokens(); err != nil {
			return err
		}
	}
	guard, err := o.guard()
	if err != nil {
		return err
	}
	rewrites, err := o.rewrites()
	if err != nil {
		return err
	}
	clean = xxljob.Config{Rewrite: rewrites}.Rewritten(clean)
	appName, group := "", ""
	if len(o.groups) > 0 {
		appName = o.groups[0]
		if group, err = xxljob.GroupOf(appName); err != nil {
			return err
		}
	}
	trust, err := o.trust()
	if err != nil {
		return err
	}
	client := peer.New(guard.Dial, o.cfg.CallTimeout, trust)
	defer client.Close()
	asked := time.Now()
	dialect, err := client.Dialect(cmd.Context(), peer.Target{Address: clean, AppName: appName, Token: tokens.Of(group)})
	refused := (*peer.Refusal)(nil)
	switch {
	case peer.Forbidden(err):
		return fmt.Errorf("the executor would not attach: %w", err)
	case errors.Is(err, peer.ErrNotSent):
		return fmt.Errorf("the executor would not attach: nothing answers at %s: %w; does it listen there, and can this machine reach it?", clean, err)
	case errors.As(err, &refused):
		return fmt.Errorf("the executor would not attach: it refuses calls with %q; give its xxl.job.accessToken with --access-token-file, and its AppName with --groups", refused.Error())
	case err != nil:
		return fmt.Errorf("the executor would not attach: %w", err)
	}
	shown, outcome := "not known: its first log will tell", "It would attach. But it does not answer as XXL-JOB's own library does, and some clients in other\nlanguages do not either: make sure that an executor listens there."
	if dialect != "" {
		outcome = "It would attach."
		shown = fmt.Sprintf("%s (XXL-JOB %s)", dialect, dialect.Versions())
	}
	cmd.Printf("address   %s\nanswered  in %s\ndialect   %s\ninstance  %s\n%s\n",
		clean, time.Since(asked).Round(time.Millisecond), shown, xxljob.InstanceOf(clean), outcome)
	return nil
}
