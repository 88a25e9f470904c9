package jet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// Await rests between its attempts for a time that doubles between these.
const (
	awaitMin = 250 * time.Millisecond
	awaitMax = 5 * time.Second
)

// Await is [Connect] for a program that may be started before NATS is: while no server
// can be reached, or none takes us, it tries again until ctx is done. cfg.Logger hears
// why, at first and then at each doubling of the attempts. What waiting does not mend,
// such as an unknown certificate, is an error at once.
func Await(ctx context.Context, cfg Config) (*Conn, error) {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for attempts, wait := 1, awaitMin; ; attempts, wait = attempts+1, min(2*wait, awaitMax) {
		conn, err := Connect(cfg)
		if !passes(err) {
			return conn, err
		}
		if cfg.Logger != nil && attempts&(attempts-1) == 0 {
			cfg.Logger.WarnContext(ctx, "bus is away; waiting for it", "attempts", attempts, "error", err, "advice", advice(cfg, err))
		}
		rest.Reset(wait)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for NATS: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// advice says what a person can do about a failure to connect.
func advice(cfg Config, err error) string {
	switch {
	case refusesCertificate(err) && cfg.CertFile == "":
		return "NATS asks for a client certificate; set CARILLON_NATS_CERT and CARILLON_NATS_KEY"
	case refusesCertificate(err):
		return "NATS refuses the client certificate " + cfg.CertFile + "; is it valid, and of an authority that NATS trusts?"
	case !errors.Is(err, nats.ErrAuthorization):
		return "is NATS running, and is its address right?"
	case cfg.Key == "" && cfg.Credentials == "":
		return "NATS wants a credential; for an executor, set CARILLON_CREDENTIAL_FILE to a file from: carillon credential create"
	default:
		return "NATS refuses the credential; is it revoked, or that of another group?"
	}
}

// refusesCertificate reports whether the server ended the handshake: by TLS 1.3 it does so after its end.
func refusesCertificate(err error) bool {
	text := err.Error()
	return strings.Contains(text, "remote error: tls") || strings.Contains(text, "by remote after TLS handshake")
}

// passes reports whether a failure to connect may end by itself.
func passes(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok { // a name that does not resolve yet, no route
		return true
	}
	return errors.Is(err, job.ErrUnavailable) || errors.Is(err, nats.ErrAuthorization)
}
