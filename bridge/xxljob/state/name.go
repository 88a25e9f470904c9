package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
)

// KeepName stores that a group stands for an AppName. The error is job.ErrConflict if it stands for
// another one: two AppNames may have one slug.
func (s *Store) KeepName(ctx context.Context, group, appName string) error {
	for {
		var is string
		_, err := s.now(ctx, keyOf(group, "name"), &is)
		switch {
		case err == nil && is == appName:
			return nil
		case err == nil:
			return fmt.Errorf("%w: executor group %s stands for AppName %q, not %q; rename one of the two", job.ErrConflict, group, is, appName)
		case !errors.Is(err, job.ErrNotFound):
			return err
		}
		if _, err := s.put(ctx, keyOf(group, "name"), appName, 0, condition{revision: 0}); !errors.Is(err, job.ErrConflict) {
			return err
		}
	}
}
