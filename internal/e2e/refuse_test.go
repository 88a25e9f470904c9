//go:build unix

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

func TestAStartThatCannotSucceedSaysWhyInOneLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	busy := taken.Addr().String()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nonsense := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(nonsense, []byte("SUNONE"), 0o600); err != nil {
		t.Fatal(err)
	}

	// refuses runs carillon with the arguments, and wants an exit code and a last
	// line that has all of the words.
	refuses := func(code int, args string, words ...string) {
		t.Helper()
		p := processtest.New(t, "carillon", nil, append([]string{processtest.Program(t, "carillon")}, strings.Fields(args)...)...)
		p.Begin(t)
		got, err := p.Wait(processtest.Patience)
		if err != nil {
			t.Errorf("carillon %s: %v", args, err)
			return
		}
		said, _, _ := strings.Cut(strings.TrimSpace(p.Said()), "\nSee \"carillon ") // where the flags are explained
		last := said[strings.LastIndex(said, "\n")+1:]                              // what comes before is the log
		if got != code || !strings.HasPrefix(last, "carillon: ") {
			t.Errorf("carillon %s: exit code %d, want %d, and what is wrong in one line:\n%s", args, got, code, said)
		}
		for _, word := range words {
			if !strings.Contains(last, word) {
				t.Errorf("carillon %s: says nothing of %q:\n%s", args, word, said)
			}
		}
	}

	quiet := " --http 127.0.0.1:0 --nats 127.0.0.1:0 --data "
	refuses(1, "dev --nats 127.0.0.1:0 --http "+busy+" --data "+filepath.Join(folder, "a"), busy, "in use")
	refuses(1, "dev --http 127.0.0.1:0 --nats "+busy+" --data "+filepath.Join(folder, "b"), busy, "in use")
	refuses(1, "dev"+quiet+filepath.Join(file, "data"), file, "not a directory")
	refuses(1, "dev --nats 127.0.0.1:0 --http 0.0.0.0:0 --data "+folder, "http", "0.0.0.0:0", "loopback")
	refuses(1, "dev --http 127.0.0.1:0 --nats 0.0.0.0:0 --data "+folder, "nats", "0.0.0.0:0", "loopback")
	refuses(1, "server --http 127.0.0.1:0 --nats-keys "+nonsense, "nats-keys", "carillon nats keygen")
	refuses(1, "server --http 127.0.0.1:0 --nats-keys "+file, "nats keys", file, "empty")
	refuses(1, "executor --group g --credential "+nonsense, "credential", "SU")
	refuses(1, "server --roles scheduler,cook", "roles", "cook", "store")
	refuses(1, "server --http 0.0.0.0:8822", "http", "loopback")
	refuses(1, "server --replicas 2", "replicas", "1, 3 or 5")
	refuses(2, "executor --group a.b", "group", "a.b")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 3 { // the file, a and b
		t.Errorf("refused starts left %v, %v", entries, err)
	}
}
