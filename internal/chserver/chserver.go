package chserver

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	startLimit = 60 * time.Second // of opening the tables; a fraction of a second, or a few with much data on a busy machine
	stopLimit  = 20 * time.Second
)

// Config says which server to start. The zero value works but for Dir.
type Config struct {
	// Dir keeps the data. It is made when there is none, and has one server at a time.
	Dir string
	// Port is the native protocol's. Defaults to any that is free.
	Port int
	// Exposed opens Port, which is not encrypted, on all addresses of this machine. Defaults to
	// loopback only.
	Exposed bool
	// Password is that of both users. Defaults to a random one.
	Password string
	// Log takes what the server complains about. Defaults to nothing.
	Log io.Writer
}

// Server is a ClickHouse server that runs as a child of this process.
type Server struct {
	cfg            Config
	port, httpPort string
	password       string
	cmd            *exec.Cmd
	stdin          io.Closer
	done           chan struct{} // closed when the process is gone
	doors          []*door       // of the process: native, HTTP; none until it takes connections
}

// Start starts a server and returns when it takes connections. The error is
// [ErrNoEngine] when there is nothing to start.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, password: cmp.Or(cfg.Password, rand.Text())}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Restart starts a server that is gone again, at its address and with its password.
// Nobody else may call methods of s meanwhile, but for its addresses.
func (s *Server) Restart(ctx context.Context) error {
	<-s.done
	s.shut()
	port, err := strconv.Atoi(s.port)
	if err != nil {
		return fmt.Errorf("start ClickHouse again: %w", err)
	}
	s.cfg.Port = port
	return s.start(ctx)
}

// releaseLimit is how long a start waits for the folder: the server of a program that was
// killed ends by itself, soon after that.
const releaseLimit = 20 * time.Second

// errTaken is that another server has the folder.
var errTaken = errors.New("another server has the folder")

func (s *Server) start(ctx context.Context) error {
	giveUp := time.Now().Add(releaseLimit)
	rest := time.NewTicker(100 * time.Millisecond)
	defer rest.Stop()
	for {
		err := s.startOnce(ctx)
		if !errors.Is(err, errTaken) || time.Now().After(giveUp) {
			return err
		}
		select {
		case <-rest.C:
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Server) startOnce(ctx context.Context) error {
	engine, err := findEngine(ctx)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(s.cfg.Dir)
	if err != nil {
		return fmt.Errorf("start ClickHouse: %w", err)
	}
	config, err := writeConfig(dir, s.password)
	if err != nil {
		return err
	}
	// The last statement reads standard input and so lasts until its end.
	const script = "SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; " +
		"SELECT getServerPort('tcp_port'), getServerPort('http_port') INTO OUTFILE '/dev/fd/3' APPEND FORMAT TSV; " +
		"SELECT count() FROM file('-', LineAsString, 'line String') FORMAT Null"
	// The server must outlive ctx, which bounds its start only.
	cmd, err := engine.command(context.WithoutCancel(ctx),
		"--config-file="+config, "--path="+filepath.Join(dir, "store"), "--listen_host=127.0.0.1",
		"--tcp_port=0", "--http_port=0", "--query="+script)
	if err != nil {
		return err
	}
	complaints := &tail{to: s.cfg.Log}
	cmd.Stderr, cmd.Dir = complaints, dir
	detach(cmd)
	ports, err := s.run(cmd)
	if err != nil {
		return fmt.Errorf("start ClickHouse: %w", err)
	}
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case line := <-ports:
		err = s.open(ctx, line)
		if err == nil {
			return nil
		}
	case <-timer.C:
		err = fmt.Errorf("it was not ready after %s", startLimit)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.Kill()
	if strings.Contains(complaints.String(), "Another server instance in same directory") {
		err = errTaken
	}
	return fmt.Errorf("start ClickHouse in %s: %w: %s", dir, err, complaints)
}

// open opens the doors of a server that says on which ports it listens.
func (s *Server) open(ctx context.Context, ports string) error {
	native, web, ok := strings.Cut(strings.TrimSpace(ports), "\t")
	if !ok {
		return errors.New("it ended at once")
	}
	s.doors = nil
	host := "127.0.0.1"
	if s.cfg.Exposed {
		host = "0.0.0.0"
	}
	for _, way := range []struct {
		port int
		to   string
	}{{s.cfg.Port, native}, {0, web}} {
		d, err := openDoor(ctx, host, way.port, net.JoinHostPort("127.0.0.1", way.to))
		if err != nil {
			return err
		}
		s.doors = append(s.doors, d)
	}
	s.port, s.httpPort = s.doors[0].port(), s.doors[1].port()
	return nil
}

// run starts the process. The channel hears the ports, or an empty line if the
// process ends without.
func (s *Server) run(cmd *exec.Cmd) (<-chan string, error) {
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	readPorts, writePorts, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), hold.Close())
	}
	cmd.Stdin, cmd.ExtraFiles = stdin, []*os.File{writePorts} // descriptor 3
	err = cmd.Start()
	_, _ = writePorts.Close(), stdin.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(err, hold.Close(), readPorts.Close())
	}
	s.cmd, s.stdin, s.done = cmd, hold, make(chan struct{})
	ports := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(readPorts).ReadString('\n')
		_ = readPorts.Close()
		ports <- line
	}()
	done := s.done
	go func() {
		defer close(done)
		_ = cmd.Wait() // how it ended matters only while it starts, and then its complaints say more
		_ = hold.Close()
	}()
	return ports, nil
}

// Addr returns where the server speaks its native protocol, as HOST:PORT.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// HTTPAddr returns where the server speaks HTTP, as HOST:PORT.
func (s *Server) HTTPAddr() string { return net.JoinHostPort("127.0.0.1", s.httpPort) }

// URL returns the address of a database on the server, with the name and password of
// its user.
func (s *Server) URL(database string) string { return s.address(user, database) }

// ReaderURL is URL for the user who may only read, and only the history in the database
// "carillon".
func (s *Server) ReaderURL(database string) string { return s.address(reader, database) }

func (s *Server) address(user, database string) string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(user, s.password), Host: s.Addr(), Path: "/" + database}
	return u.String()
}

// Stop has the server shut its tables down, and returns when the process is gone.
// One that takes too long is killed.
func (s *Server) Stop() {
	_ = s.stdin.Close() // an error means that it is gone
	defer s.shut()
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.Kill()
	}
}

// Kill ends the process without any warning, as a power cut would, and returns when
// it is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
	s.shut()
}

// shut closes the doors of a process that is gone.
func (s *Server) shut() {
	for _, d := range s.doors {
		d.close()
	}
}

// Done is closed when the process is gone.
func (s *Server) Done() <-chan struct{} { return s.done }

// tail keeps the beginning of what a server says on its way down, for an error.
type tail struct {
	to   io.Writer
	kept []byte
}

const tailSize = 2000 // bytes

// Write implements [io.Writer]. Only the goroutine that copies standard error calls it.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[:min(len(p), tailSize-len(t.kept))]...)
	if t.to != nil {
		_, _ = t.to.Write(p) // whoever does not read must not stop the server
	}
	return len(p), nil
}

// String is for when the process is gone.
func (t *tail) String() string { return strings.TrimSpace(string(t.kept)) }

// ServeIfAsked is what a program calls before anything else in main, or a test in
// TestMain, if it calls [Start]: in the copy that Start makes of the program it runs
// the server and does not return.
func ServeIfAsked() {
	if library := os.Getenv(childVariable); library != "" {
		os.Exit(serve(library, os.Args[1:]))
	}
}
