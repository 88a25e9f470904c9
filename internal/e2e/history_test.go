//go:build unix

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// A second server with a log store of its own would get a part of the history, and each of the two
// would take the other's runs for lost.
func TestAServerWithASecondLogStoreIsRefusedUntilTheHistoryIsReleased(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	nats := " --nats " + g.url + " --nats-ca " + g.cert + " --nats-keys " + filepath.Join(g.folder, "nats.keys")
	second := "server --http 127.0.0.1:0" + nats + " --data " + filepath.Join(g.folder, "second")
	g.ann.run(4, "", second, "another log store", "--roles scheduler,alert", "history release")
	g.ann.run(0, "", "get history")

	g.server.Interrupt()
	if _, err := g.server.Wait(processtest.Patience); err != nil {
		t.Fatal(err)
	}
	g.ann.run(0, "", "history release"+nats, "next server")
	replaced := processtest.New(t, "second", nil, append([]string{processtest.Program(t, "carillon")}, strings.Fields(second)...)...)
	replaced.Begin(t)
	processtest.Await(t, processtest.Patience, "wait for the second server to ingest", func() error {
		return errors.Join(says(replaced, "lease=role.ingest"), replaced.Alive())
	})
	g.server.Begin(t) // with the log store of before
	if code, err := g.server.Wait(processtest.Patience); err != nil || code != 4 {
		t.Errorf("the first server ended with %d, %v:\n%s", code, err, g.server.Said())
	}
}

// Nobody could release the history of dev: its NATS runs only with it.
func TestDevBeginsAgainWithANewLogStore(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	d.Begin(t)
	d.Interrupt(t)
	files, err := filepath.Glob(filepath.Join(d.data, "history*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log store in %s: %v", d.data, err)
	}
	for _, f := range files {
		if err := os.RemoveAll(f); err != nil {
			t.Fatal(err)
		}
	}
	d.Begin(t)
	d.save(t, "after", `"task": {"shell": "echo after"}`)
	id := d.run(t, "after")
	d.awaitSuccess(t, id)
}
