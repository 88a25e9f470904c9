package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// readyWithin bounds the wait for listeners after the streams are recovered. The
// recovery itself, which grows with what is on disk, is not bounded.
const readyWithin = 10 * time.Second

// Server is a running NATS server. Its methods may be called concurrently.
type Server struct {
	srv      *server.Server
	lock     *dirLock
	shutdown sync.Once
}

// Start starts a server and returns once it accepts connections. The caller then
// calls Run, or Shutdown when it is done.
//
// The error names what stands in the way: the line of the configuration, an
// address in use, a store directory that cannot be written or that another
// server has open ([ErrStoreInUse]).
func Start(cfg Config) (*Server, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(opts.StoreDir)
	if err != nil {
		return nil, err
	}
	if err := moveStreams(opts); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	srv, err := start(opts, cfg.Logger)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return &Server{srv: srv, lock: lock}, nil
}

func start(opts *server.Options, log *slog.Logger) (*server.Server, error) {
	srv, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("configure nats server: %w", err)
	}
	adapter := newLogAdapter(log)
	srv.SetLoggerV2(adapter, false, false, false)

	// Start blocks while it recovers streams, and returns when it listens or has
	// given up. What it gave up on, it says to its logger only.
	srv.Start()
	err = adapter.fatal()
	if err == nil && !srv.ReadyForConnections(readyWithin) {
		err = fmt.Errorf("not ready for connections within %v", readyWithin)
	}
	if err != nil {
		stop(srv)
		return nil, fmt.Errorf("start nats server: %w", err)
	}
	return srv, nil
}

// ClientURL returns the URL at which the server listens, with the port that it
// got if the configuration left it open. It means nothing if the server does
// not listen.
func (s *Server) ClientURL() string { return s.srv.ClientURL() }

// InProcessConn opens a connection to the server without a socket. It makes s an
// option for a client: nats.InProcessServer(s). It returns an error once the
// server is stopping.
func (s *Server) InProcessConn() (net.Conn, error) {
	conn, err := s.srv.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("connect to nats server in process: %w", err)
	}
	return conn, nil
}

// Reload reads the configuration file again, and the certificates that it names. It
// drops what [Config] set besides, so it is for a server that has only a file. The
// error names what cannot be read, or cannot change while the server runs; then the
// earlier configuration stays in use.
func (s *Server) Reload() error {
	if err := s.srv.Reload(); err != nil {
		return fmt.Errorf("reload configuration of nats server: %w", flatten(err))
	}
	return nil
}

// Run keeps the server until ctx is done, then shuts it down. It returns nil
// after an orderly stop, and also if somebody called Shutdown.
func (s *Server) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() { // ends with the server, for which both cases below wait
		defer close(stopped)
		s.srv.WaitForShutdown()
	}()
	select {
	case <-ctx.Done():
	case <-stopped:
	}
	err := s.Shutdown()
	<-stopped
	return err
}

// Shutdown stops the server and returns when its files are closed and its
// goroutines have ended. Calls after the first wait for it and return nil.
func (s *Server) Shutdown() error {
	var err error
	s.shutdown.Do(func() {
		stop(s.srv)
		err = s.lock.release()
	})
	return err
}

func stop(srv *server.Server) {
	srv.Shutdown()
	srv.WaitForShutdown()
}
