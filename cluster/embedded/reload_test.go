package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

// What a server says when somebody connects is by its configuration of that moment.
func TestReloadTakesUpTheFileAsItIsNowUnlessItIsWrong(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "nats.conf")
	write := func(payload string) {
		t.Helper()
		text := fmt.Sprintf("listen: \"127.0.0.1:-1\"\nmax_payload: %s\njetstream {store_dir: %q}\n", payload, filepath.Join(folder, "streams"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1000000")
	s := start(t, embedded.Config{ConfigFile: file})
	want := func(payload int64) {
		t.Helper()
		nc, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if got := nc.MaxPayload(); got != payload {
			t.Errorf("takes messages of %d bytes, want %d", got, payload)
		}
	}
	want(1000000)
	write("2000000")
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	want(2000000)
	write("plenty")
	if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "reload configuration") {
		t.Errorf("a wrong file: %v", err)
	}
	want(2000000)
}
