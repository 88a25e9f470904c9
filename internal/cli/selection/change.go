package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// bulkAtOnce is how many things one request changes. More would be taken; so each answers
// soon, also of a cluster that is slow.
const bulkAtOnce = 200

// bulkRetry is how long to wait before what was refused is asked for again.
const bulkRetry = 300 * time.Millisecond

// Options are the flags of commands that change many things.
type Options struct {
	// DryRun shows what would change and changes nothing.
	DryRun bool
	yes    bool
	// Named has things that are named one by one asked about too, at a terminal.
	Named bool
}

func (o *Options) confirmFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
}

// Asks reports whether Settle would ask somebody.
func (o *Options) Asks(cmd *cobra.Command) bool {
	return !o.DryRun && !o.yes && cli.IsTerminal(cmd.InOrStdin())
}

// Settle asks before what a filter has found is changed. Nothing is wrong if it is not to
// be: then go on is false.
func (o *Options) Settle(cmd *cobra.Command, verb, what string, n int) (goOn bool, err error) {
	if n == 0 || o.DryRun {
		return false, nil
	}
	if o.yes {
		return true, nil
	}
	if n != 1 {
		what += "s"
	}
	err = cli.Confirm(cmd, fmt.Sprintf("%s %d %s?", verb, n, what))
	return err == nil, err
}

// bulk is how things of one kind are changed, many at a time.
type bulk[K ~string, I any] struct {
	what, verb string // of the question: verb 3 whats?
	// ask asks for the change of those that keys name or, if there are none, of those that
	// the filter selects after a cursor; next is empty behind the last.
	ask func(keys []K, cursor string, dryRun bool) (items []I, next string, err error)
	// result returns the key of an item, and its outcome.
	result func(I) (K, client.BulkOutcome, *client.Problem)
	// again says that asking once more for what was refused may help.
	again func(I) bool
	// show returns an item as programs are shown it, and as people are.
	show func(item I, dryRun bool) (any, string)
}

// change changes the things that keys name, or those of the filter once somebody has said
// yes to it, and shows what became of each.
func (b *bulk[K, I]) change(r *cli.Remote, cmd *cobra.Command, keys []K, o *Options) error {
	ctx := cmd.Context()
	if len(keys) > 0 {
		if o.Named && cli.IsTerminal(cmd.InOrStdin()) {
			if goOn, err := o.Settle(cmd, b.verb, b.what, len(keys)); err != nil || !goOn && !o.DryRun {
				return err
			}
		}
		items, err := b.named(ctx, keys, o.DryRun)
		return b.showAll(r, cmd, items, o.DryRun, err)
	}
	items, err := b.filtered()
	if err != nil {
		return err
	}
	for _, item := range items {
		if key, outcome, _ := b.result(item); outcome == client.BulkOutcomeChanged {
			keys = append(keys, key)
		}
	}
	goOn, err := o.Settle(cmd, b.verb, b.what, len(keys))
	if !goOn {
		return b.showAll(r, cmd, items, true, err)
	}
	items, err = b.named(ctx, keys, false)
	return b.showAll(r, cmd, items, false, err)
}

// named changes things, some with each request. With an error come the items of the
// requests before.
func (b *bulk[K, I]) named(ctx context.Context, keys []K, dryRun bool) ([]I, error) {
	var items []I
	at := map[K]int{}
	for len(keys) > 0 {
		var rest []K
		for some := range slices.Chunk(keys, bulkAtOnce) {
			answered, _, err := b.ask(some, "", dryRun)
			if err != nil {
				return items, err
			}
			for _, item := range answered {
				key, _, _ := b.result(item)
				if known, ok := at[key]; ok {
					items[known] = item
				} else {
					at[key] = len(items)
					items = append(items, item)
				}
				if b.again(item) {
					rest = append(rest, key)
				}
			}
		}
		if keys = rest; len(keys) > 0 {
			if err := pause.For(ctx, bulkRetry); err != nil {
				return items, err
			}
		}
	}
	return items, nil
}

// filtered returns what would become of all things that the filter selects.
func (b *bulk[K, I]) filtered() ([]I, error) {
	var items []I
	for cursor := ""; ; {
		page, next, err := b.ask(nil, cursor, true)
		if err != nil {
			return nil, err
		}
		items = append(items, page...)
		if cursor = next; cursor == "" {
			return items, nil
		}
	}
}

// showAll shows what became of things, or would, before failed ended it. The error joins
// that and why some were refused.
func (b *bulk[K, I]) showAll(r *cli.Remote, cmd *cobra.Command, items []I, dryRun bool, failed error) error {
	if failed != nil && len(items) == 0 {
		return failed
	}
	shown, lines := []any{}, []string{}
	var refused []error
	for _, item := range items {
		key, _, problem := b.result(item)
		switch {
		case problem == nil:
			one, line := b.show(item, dryRun)
			if dryRun {
				line += " (dry run)"
			}
			shown, lines = append(shown, one), append(lines, line)
		case len(items) > 1:
			refused = append(refused, fmt.Errorf("%s: %w", key, problem))
		default:
			refused = append(refused, problem)
		}
	}
	err := r.Show(cmd.OutOrStdout(), shown, func(t *draw.Table) {
		for _, line := range lines {
			t.Line(line)
		}
		if len(items) == 0 {
			t.Line("no " + b.what + "s")
		}
	})
	return errors.Join(append([]error{err, failed}, refused...)...)
}
