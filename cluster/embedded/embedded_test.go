package embedded_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

// start starts a server on a free port that stops when the test ends.
func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := embedded.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func connect(t *testing.T, url string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestTheFileAndTheBuiltInTextMeanTheSameToTheServersOwnParser(t *testing.T) {
	fromFile, err := server.ProcessConfigFile("../../nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	fromText := &server.Options{}
	if err := fromText.ProcessConfigString(embedded.DefaultConf); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []*server.Options{fromFile, fromText} {
		if !opts.JetStream || opts.StoreDir != "data/nats" || opts.Host != "127.0.0.1" || opts.Port != 4222 {
			t.Errorf("jetstream %v in %q on %s:%d", opts.JetStream, opts.StoreDir, opts.Host, opts.Port)
		}
		if opts.MaxPayload != 8<<20 || opts.SyncInterval != 2*time.Minute || opts.PingInterval != 5*time.Second {
			t.Errorf("max payload %d, sync interval %v, ping interval %v", opts.MaxPayload, opts.SyncInterval, opts.PingInterval)
		}
		want := server.JSLimitOpts{
			MaxBatchSize:              1000,
			MaxBatchInflightPerStream: 256,
			MaxBatchInflightTotal:     1000,
			MaxBatchTimeout:           3 * time.Second,
		}
		if diff := cmp.Diff(want, opts.JetStreamLimits); diff != "" {
			t.Errorf("jetstream limits (-want +got):\n%s", diff)
		}
	}
}

func TestAServerFromTheBuiltInTextStoresMessagesAndKeepsThemOverARestart(t *testing.T) {
	cfg := embedded.Config{StoreDir: t.TempDir(), ServerName: "first"}
	s := start(t, cfg)
	js := connect(t, s.ClientURL())
	if name := js.Conn().ConnectedServerName(); name != "first" {
		t.Errorf("server name %q, want first", name)
	}
	stream := jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, AllowAtomicPublish: true}
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s.a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}

	js = connect(t, start(t, cfg).ClientURL())
	kept, err := js.Stream(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	msg, err := kept.GetLastMsgForSubject(t.Context(), "s.a")
	if err != nil {
		t.Fatal(err)
	}
	if string(msg.Data) != "kept" {
		t.Errorf("message after the restart: %q, want kept", msg.Data)
	}
}

func TestAConfigFileOfTheUsersOwnReplacesTheBuiltInText(t *testing.T) {
	dir := t.TempDir()
	file := write(t, `server_name: own, listen: "127.0.0.1:-1", jetstream { store_dir: "`+filepath.ToSlash(dir)+`" }`)
	s, err := embedded.Start(embedded.Config{ConfigFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Shutdown() })
	if name := connect(t, s.ClientURL()).Conn().ConnectedServerName(); name != "own" {
		t.Errorf("server name %q, want own", name)
	}
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		t.Error(err)
	}
}

func TestPortZeroIsAnyFreePort(t *testing.T) {
	one := start(t, embedded.Config{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	two := start(t, embedded.Config{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	for _, s := range []*embedded.Server{one, two} {
		connect(t, s.ClientURL())
	}
	if one.ClientURL() == two.ClientURL() {
		t.Errorf("both servers say that they listen at %s", one.ClientURL())
	}
	for _, url := range []string{one.ClientURL(), two.ClientURL()} {
		if strings.HasSuffix(url, ":4222") {
			t.Errorf("the server chose the default port: %s", url)
		}
	}
}

func TestAServerInProcessOnlyDoesNotListen(t *testing.T) {
	// The address is taken, so a server that tried to listen would not start.
	taken := listen(t)
	s := start(t, embedded.Config{StoreDir: t.TempDir(), Listen: taken, InProcessOnly: true})
	js := connect(t, "", nats.InProcessServer(s))
	if _, err := js.AccountInfo(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBoundsOnStorageOverrideTheConfiguration(t *testing.T) {
	s := start(t, embedded.Config{StoreDir: t.TempDir(), MaxStore: 1 << 20, MaxMemory: 1 << 20})
	js := connect(t, "", nats.InProcessServer(s))
	for _, kind := range []jetstream.StorageType{jetstream.FileStorage, jetstream.MemoryStorage} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Storage: kind, MaxBytes: 2 << 20})
		if err == nil {
			t.Errorf("a %v stream of 2 MiB was made on a server bounded to 1 MiB", kind)
		}
	}
}

func TestRunEndsWithItsContextOrWithTheServer(t *testing.T) {
	// Both ways the store directory is free again once Run has returned.
	cfg := embedded.Config{StoreDir: t.TempDir()}
	end := func(how func(cancel context.CancelFunc, s *embedded.Server)) {
		t.Helper()
		s := start(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		how(cancel, s)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := nats.Connect("", nats.InProcessServer(s)); err == nil {
			t.Error("a client connected to a server that has ended")
		}
	}
	end(func(cancel context.CancelFunc, _ *embedded.Server) { cancel() })
	end(func(_ context.CancelFunc, s *embedded.Server) { _ = s.Shutdown() })
}

func TestAStartThatCannotSucceedNamesTheReason(t *testing.T) {
	taken := listen(t)
	notADir := write(t, "a file where a directory should be")
	badSyntax := write(t, "jetstream {\n  store_dir: x\n  limits ]\n}")
	unknown := write(t, "jetstream { store_dir: x }\nmax_paylod: 8MB")
	off := write(t, `listen: "127.0.0.1:-1"`)
	joins := write(t, "jetstream { store_dir: x }\ncluster { name: c, listen: \"127.0.0.1:-1\", routes: [\"nats://10.0.0.1:6222\"] }")
	homeless := write(t, "jetstream: enabled")
	fails := func(cfg embedded.Config, is error, says string) {
		t.Helper()
		if cfg.StoreDir == "" && cfg.ConfigFile != homeless {
			cfg.StoreDir = t.TempDir()
		}
		s, err := embedded.Start(cfg)
		switch {
		case err == nil:
			_ = s.Shutdown()
			t.Errorf("started, want an error that says %q", says)
		case !strings.Contains(err.Error(), says):
			t.Errorf("error %q does not say %q", err, says)
		case is != nil && !errors.Is(err, is):
			t.Errorf("error %q is not %q", err, is)
		}
	}
	fails(embedded.Config{Listen: taken}, syscall.EADDRINUSE, "start nats server: listen tcp "+taken)
	fails(embedded.Config{StoreDir: notADir}, syscall.ENOTDIR, "make store directory: mkdir "+notADir)
	fails(embedded.Config{Listen: "4222"}, nil, `listen address "4222": want host:port`)
	fails(embedded.Config{Listen: "127.0.0.1:http"}, nil, "port must be a number from 0 to 65535")
	fails(embedded.Config{MaxStore: -1}, nil, "max store and max memory must not be negative")
	fails(embedded.Config{ConfigFile: "absent.conf"}, os.ErrNotExist, "configure nats server from absent.conf: ")
	fails(embedded.Config{ConfigFile: badSyntax}, nil, "Parse error on line 3")
	fails(embedded.Config{ConfigFile: unknown}, nil, filepath.Base(unknown)+`:2:1: unknown field "max_paylod"`)
	fails(embedded.Config{ConfigFile: off}, nil, "jetstream is off")
	fails(embedded.Config{ConfigFile: joins, Alone: true}, nil, "it joins other servers; leave out the blocks cluster, gateway and leafnodes")
	fails(embedded.Config{ConfigFile: homeless}, nil, "no store_dir")
}

func TestAStoreDirectoryHasOneServerAtATime(t *testing.T) {
	cfg := embedded.Config{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"}
	s := start(t, cfg)
	if _, err := embedded.Start(cfg); !errors.Is(err, embedded.ErrStoreInUse) {
		t.Errorf("second server on the same store: %v, want %v", err, embedded.ErrStoreInUse)
	}
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
}

func TestAFailedStartGivesTheStoreDirectoryBack(t *testing.T) {
	dir := t.TempDir()
	if _, err := embedded.Start(embedded.Config{StoreDir: dir, Listen: listen(t)}); err == nil {
		t.Fatal("started on an address in use")
	}
	start(t, embedded.Config{StoreDir: dir})
}

// listen returns an address that is in use for as long as the test runs.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// write returns the path of a new file with this text.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
