package chserver_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
)

func TestMain(m *testing.M) {
	chserver.ServeIfAsked()
	if os.Getenv(orphanVariable) != "" {
		os.Exit(beParent())
	}
	os.Exit(m.Run())
}

func start(t *testing.T, dir string) *chserver.Server {
	t.Helper()
	return chtest.Start(t, chserver.Config{Dir: dir, Log: t.Output()})
}

func connect(t *testing.T, s *chserver.Server) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(s.URL("default"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func execute(t *testing.T, conn driver.Conn, statement string) {
	t.Helper()
	if err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestWhatWasInsertedIsThereAfterAStopAndAfterAKill(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	conn := connect(t, s)
	execute(t, conn, "CREATE DATABASE d")
	execute(t, conn, "CREATE TABLE d.t (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, conn, "INSERT INTO d.t VALUES (1)")
	if err := conn.Close(); err != nil { // a stop waits for idle connections
		t.Fatal(err)
	}
	s.Stop()
	s = start(t, dir)
	execute(t, connect(t, s), "INSERT INTO d.t VALUES (2)")
	address := s.URL("default")
	if _, port, _ := net.SplitHostPort(s.Addr()); len(port) != 5 || port >= "32768" {
		t.Errorf("while the server is gone, a connection may be given its port %s", port)
	}
	s.Kill()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.URL("default") != address {
		t.Errorf("the address was %s and is %s", address, s.URL("default"))
	}
	var n uint64
	if err := connect(t, s).QueryRow(t.Context(), "SELECT count() FROM d.t").Scan(&n); err != nil || n != 2 {
		t.Errorf("the table has %d rows, with %v; want 2", n, err)
	}
}

// Otherwise the test's folder is removed while the server still writes there.
func TestAServerOfATestIsGoneAfterIt(t *testing.T) {
	var s *chserver.Server
	t.Run("with a server", func(t *testing.T) { s = start(t, t.TempDir()) })
	select {
	case <-s.Done():
	default:
		t.Error("the server still runs")
		s.Kill()
	}
}

func TestAWrongPasswordIsRefused(t *testing.T) {
	s := start(t, t.TempDir())
	defer s.Kill() // it would wait for the connection that it refused
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{s.Addr()}, Auth: clickhouse.Auth{Username: "carillon", Password: "guess"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var exception *clickhouse.Exception
	if err := conn.Ping(t.Context()); !errors.As(err, &exception) || exception.Code != 516 {
		t.Errorf("the error is %v; want that authentication failed", err)
	}
}

// A client that leaves before it has read an answer whole leaves so.
func TestTheServerOutlivesAClientWhoseConnectionIsReset(t *testing.T) {
	s := start(t, t.TempDir())
	options, err := clickhouse.ParseDSN(s.URL("default"))
	if err != nil {
		t.Fatal(err)
	}
	var dialed net.Conn
	options.DialContext = func(ctx context.Context, addr string) (conn net.Conn, err error) {
		dialed, err = (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		return dialed, err
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, conn, "SELECT 1")
	if tcp, ok := dialed.(*net.TCPConn); !ok || tcp.SetLinger(0) != nil {
		t.Fatalf("the connection is %T; want one that can be reset", dialed)
	}
	if err := errors.Join(dialed.Close(), conn.Close()); err != nil {
		t.Fatal(err)
	}
	for range 3 { // it would end a moment later
		execute(t, connect(t, s), "SELECT sleep(0.3)")
	}
}

// alarm is rung when a server says that another one has its folder.
type alarm struct{ rings chan struct{} }

func (a alarm) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Another server instance") {
		select {
		case a.rings <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

// So it is with the server of a program that was killed, and is started again at once.
func TestAFolderHasOneServerAtATimeAndTheNextWaitsForItsEnd(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	taken := alarm{make(chan struct{}, 1)}
	second := make(chan error, 1)
	go func() {
		s, err := chserver.Start(t.Context(), chserver.Config{Dir: dir, Log: taken})
		if err == nil {
			s.Stop()
		}
		second <- err
	}()
	select {
	case <-taken.rings:
	case err := <-second:
		t.Fatalf("the second has ended while the first has the folder: %v", err)
	}
	first.Kill()
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// orphanVariable has this test program be a parent that dies: it starts a server in
// the folder that the variable names, tells its address, and waits to be killed.
const orphanVariable = "CARILLON_TEST_PARENT"

func beParent() int {
	s, err := chserver.Start(context.Background(), chserver.Config{Dir: os.Getenv(orphanVariable)})
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		return 1
	}
	_, _ = os.Stdout.WriteString(s.Addr())
	<-s.Done()
	return 0
}

func TestTheServerEndsWithItsParent(t *testing.T) {
	chtest.Need(t)
	dir := filepath.Join(t.TempDir(), "data")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self)
	parent.Env = append(os.Environ(), orphanVariable+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	addr := make([]byte, 64)
	if n, err := out.Read(addr); err != nil || n == 0 {
		t.Fatalf("the parent told no address: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	// The folder is free once the orphan has shut down, which nobody can be told of.
	for {
		s, err := chserver.Start(t.Context(), chserver.Config{Dir: dir})
		if err == nil {
			s.Stop()
			return
		}
		if t.Context().Err() != nil || !strings.Contains(err.Error(), "status") {
			t.Fatal(err)
		}
	}
}
