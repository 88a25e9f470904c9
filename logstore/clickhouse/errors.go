package clickhouse

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"carillon/job"
)

// Exceptions of the server that stay until somebody changes something.
var (
	refusals = []int32{516, 497, 81, 192, 193} // wrong password, missing grant, no such database, no such user
	outages  = []int32{210, 209, 203, 159, 425, 999, 242, 319, 236, 241, 243, 252}
)

// explain gives an error of the driver its kind: job.ErrInvalid when the server
// refuses the program for good, and job.ErrUnavailable when it cannot be reached, or
// cannot do it now.
func explain(err error) error {
	var exception *clickhouse.Exception
	switch {
	case err == nil || errors.Is(err, job.ErrInvalid):
		return err
	case !errors.As(err, &exception):
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	case exception.Code == 516:
		return fmt.Errorf("%w: user or password is wrong: %w", job.ErrInvalid, err)
	case slices.Contains(refusals, exception.Code):
		return fmt.Errorf("%w: %w", job.ErrInvalid, err)
	case slices.Contains(outages, exception.Code):
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	}
	return err
}
