package elsewhere

import (
	"context"
	"errors"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/spool"
)

// Flush sends the pings of the user's spool until a server is away. It returns how many were
// sent and how many are left. drop is told of each ping that is given up.
func Flush(ctx context.Context, drop func(text string)) (sent, left int, err error) {
	dir, err := spool.Dir()
	if err != nil {
		return 0, 0, err
	}
	s := spool.At(dir)
	sent, err = flush(ctx, s, spool.MaxFiles, drop)
	left, lenErr := s.Len()
	return sent, left, errors.Join(err, lenErr)
}

// flush sends at most most pings of a spool, each to the server that it has to go to.
func flush(ctx context.Context, s *spool.Spool, most int, drop func(text string)) (int, error) {
	servers := map[Access]*ping.Server{} // a connection each
	return s.Flush(ctx, most, func(ctx context.Context, k *spool.Kept) error {
		access, err := accessOf(k, DefaultServer)
		if err != nil {
			return &ping.RefusedError{Reason: err.Error()}
		}
		server := servers[access]
		if server == nil {
			if server, err = access.of(); err != nil {
				return &ping.RefusedError{Reason: err.Error()}
			}
			servers[access] = server
		}
		return server.Send(ctx, &k.Ping, k.Happened.Age())
	}, drop)
}
