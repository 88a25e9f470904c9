package database

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/job"
)

// Exceptions of the server that stay until somebody changes something.
var (
	refusals = []int32{516, 497, 81, 192, 193, 115} // wrong password, missing grant, no such database, no such user, no such setting
	outages  = []int32{210, 209, 203, 159, 425, 999, 242, 319, 236, 241, 243, 252}
)

// Explain gives an error of the driver its kind: job.ErrInvalid when the server
// refuses the program for good, and job.ErrUnavailable when it cannot be reached, or
// cannot do it now.
func Explain(err error) error {
	var exception *clickhouse.Exception
	switch {
	case err == nil || errors.Is(err, job.ErrInvalid):
		return err
	case strings.Contains(err.Error(), "unsupported server revision"): // by the driver
		return fmt.Errorf("%w: its ClickHouse is too old; %d.%d or newer is needed: %w", job.ErrInvalid, minMajor, minMinor, err)
	case wrongPort(err) != "":
		return fmt.Errorf("%w: the port %s: %w", job.ErrInvalid, wrongPort(err), err)
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

// wrongPort says what is wrong with a port that answers in another protocol; nothing if it
// does not. The driver tells only the first byte of what came instead of a packet.
func wrongPort(err error) string {
	var plain tls.RecordHeaderError
	switch text := err.Error(); {
	case errors.As(err, &plain):
		return "takes no TLS: leave out secure=true, or give that for TLS, which is 9440 unless somebody has changed it"
	case strings.Contains(text, "unexpected packet [72]"): // H, as in HTTP/1.1
		return "is that of HTTP: give that of the native protocol, which is 9000, or 9440 with secure=true, unless somebody has changed it"
	case strings.Contains(text, "unexpected packet [21]"): // an alert
		return "wants TLS: add secure=true"
	}
	return ""
}
