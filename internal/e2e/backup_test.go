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

func TestABackupComesBackOnAnotherNATSAndALostAdministratorToo(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("job.yaml", "job: billing/report\ntask: {shell: echo hi}\n"))
	_, seed := g.credential("billing", "web1")
	g.ann.run(0, "", "user create bob --role viewer --no-link")
	nats := " --nats " + g.url + " --nats-ca " + g.cert + " --nats-keys " + filepath.Join(g.folder, "nats.keys")
	file := filepath.Join(g.folder, "carillon.backup")
	g.ann.run(0, "", "backup -f "+file+nats, "entries in "+file)
	g.ann.run(0, "", "restore -f "+file+" --dry-run"+nats, "no differences")
	g.ann.run(4, "", "restore -f "+file+nats, "stop all servers first")

	// The data of NATS is lost; the backup is not.
	g.server.Interrupt()
	if _, err := g.server.Wait(processtest.Patience); err != nil {
		t.Fatal(err)
	}
	g.broker.Kill()
	if err := os.RemoveAll(filepath.Join(g.folder, "nats")); err != nil {
		t.Fatal(err)
	}
	g.broker.Begin(t)
	processtest.Await(t, processtest.Patience, "show what a restore would create", func() error {
		if out := g.ann.try("restore -f " + file + " --dry-run" + nats); !strings.Contains(out, "create  job billing/report") {
			return errors.New(out)
		}
		return nil
	})
	processtest.Await(t, processtest.Patience, "restore", func() error {
		if out := g.ann.try("restore -f " + file + nats); !strings.Contains(out, "restored the configuration") {
			return errors.New(out)
		}
		return nil
	})
	g.server.Begin(t)
	processtest.Await(t, processtest.Patience, "wait for the server", func() error {
		if out := g.ann.try("get jobs"); !strings.Contains(out, "billing/report") { // with the token of before
			return errors.New(out)
		}
		return nil
	})
	g.executor("billing", seed) // with the credential of before
	processtest.Await(t, processtest.Patience, "wait until the server has all shards", func() error {
		if out := g.ann.try("get nodes"); !strings.Contains(out, "  64  ") {
			return errors.New(out)
		}
		return nil
	})
	g.ann.run(0, "", "run billing/report --wait", "succeeded")
	id := strings.TrimSpace(g.ann.run(0, "", "run billing/report"))
	g.ann.run(0, "", "wait "+id, "succeeded")
	g.ann.run(3, "", "wait 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d")

	out := g.ann.run(0, "", "user recover bob"+nats+" --public-url "+g.address, "bob is now an administrator")
	bob := newPerson(t, g.cert)
	bob.run(0, "correct horse battery staple\n", "login --user bob --link "+strings.TrimSpace(out[strings.LastIndex(out, "http"):]))
	bob.run(0, "", "get users", "ann", "bob")
	bob.run(0, "", "audit-log", "recoverUser", "user bob")
}
