//go:build unix

package elsewhere_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/elsewhere"
)

// The test binary is the wrapper, too: its first argument tells.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == elsewhere.Name {
		os.Exit(cli.Execute(context.Background(), cli.NewRoot(elsewhere.Commands()...), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Who started this program may ignore signals, as nohup does and a shell in the background. Programs that it starts
	// ignored them, too, and begin with the default for those that it catches.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(m.Run())
}

const apiToken, pingToken = "carillon_0123456789ab_secret", "carillon_ping_0123456789ab_secret"

// got is a ping as the server was sent it.
type got struct {
	path, token  string
	kind, output string
	values       map[string]string
}

// server takes pings as a server of ours does.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	pings []got
	// answer replaces the usual one, if it returns true.
	answer func(http.ResponseWriter, *http.Request) bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, err := readPing(r)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.pings = append(s.pings, g)
		answer := s.answer
		s.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		_, _ = fmt.Fprintln(w, `{"ping":"0123456789abcdef","job":"ops/x"}`)
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

func readPing(r *http.Request) (got, error) {
	g := got{path: r.URL.Path, token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), values: map[string]string{}}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return g, nil //nolint:nilerr // the wrapper has given up
	}
	if kind, byToken := strings.CutPrefix(r.URL.Path, "/ping/"); byToken {
		g.kind, g.output = kind, string(body)
		for name, values := range r.URL.Query() {
			g.values[name] = values[0]
		}
		return g, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return g, fmt.Errorf("%s: %q: %w", r.URL, body, err)
	}
	for name, value := range fields {
		if n, isNumber := value.(float64); isNumber {
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
		g.values[name] = fmt.Sprint(value)
	}
	g.kind, g.output = g.values["kind"], g.values["output"]
	return g, nil
}

func (s *server) answers(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// all returns the pings of a kind, in order.
func (s *server) all(kind string) (list []got) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pings {
		if p.kind == kind {
			list = append(list, p)
		}
	}
	return list
}

// end returns the one end that the server was sent.
func (s *server) end(t *testing.T) got {
	t.Helper()
	ends := s.all("end")
	if len(ends) != 1 {
		t.Fatalf("the server was sent %d ends: %+v", len(ends), ends)
	}
	return ends[0]
}

// host is a machine with wrappers.
type host struct {
	t   *testing.T
	dir string
	env []string
}

func newHost(t *testing.T, server string) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir()}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "TMPDIR=" + filepath.Join(h.dir, "tmp"), "SHELL=/bin/sh",
		"XDG_STATE_HOME=" + filepath.Join(h.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(h.dir, "config"),
	}
	if err := os.Mkdir(filepath.Join(h.dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if server != "" {
		h.configure("server: " + server + "\ntoken: " + apiToken + "\n")
	}
	return h
}

// configure writes the configuration file.
func (h *host) configure(text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, "config", "carillon", "watch.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// command returns a wrapper that is not started.
func (h *host) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), os.Args[0], append([]string{elsewhere.Name}, args...)...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// run runs a wrapper, and returns what it printed.
func (h *host) run(args ...string) (code int, out, errOut string) {
	h.t.Helper()
	cmd := h.command(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// want runs a wrapper, and compares what it does.
func (h *host) want(code int, out, errOut string, args ...string) {
	h.t.Helper()
	if c, o, e := h.run(args...); c != code || o != out || e != errOut {
		h.t.Errorf("%q: exit code %d, %q, %q; want %d, %q, %q", args, c, o, e, code, out, errOut)
	}
}

// spooled returns the names of the pings that wait.
func (h *host) spooled() []string {
	h.t.Helper()
	all, err := filepath.Glob(filepath.Join(h.dir, "state/carillon/watch/*.*[gd]"))
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// await returns once a condition holds, or fails.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("this does not come: " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
