//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// diskSize is the size of a NATS server's own file system, in MiB: more than the longest
// chaos needs.
const diskSize = 1024

// disk is the folder of a NATS server's streams. Where the system lets the test have one, it is
// a small file system of its own, which can be filled.
type disk struct {
	path  string
	inner []string // the words that run a command where the file system can be seen
}

// newDisk makes a file system in memory, in a name space of its own that ends with the test,
// also when that is killed: its standard input is closed then. Where that is not allowed the disk is a plain folder.
func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{path: t.TempDir()}
	holder := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size="$1"m tmpfs "$0" && echo ready && exec cat`, d.path, strconv.Itoa(diskSize))
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Logf("no disk is filled: %v", err)
		return d
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = holder.Wait() // it has nothing to tell
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Log("no disk is filled: this system allows no file systems of one's own")
		return d
	}
	own := disk{path: d.path, inner: []string{"nsenter", "--preserve-credentials", "-U", "-m", "-t", strconv.Itoa(holder.Process.Pid), "setpriv", "--pdeathsig", "KILL"}}
	if err := own.run("true"); err != nil {
		t.Logf("no disk is filled: %v", err)
		return d
	}
	return &own
}

// command returns a command that sees the disk, and ends with the test.
func (d *disk) command(words ...string) []string {
	return append(slices.Clip(d.inner), words...)
}

// small reports whether the disk can be filled.
func (d *disk) small() bool { return d.inner != nil }

func (d *disk) run(script string) error {
	words := d.command("sh", "-c", script, d.path)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// empty takes away all that is on the disk.
func (d *disk) empty() error { return d.run(`find "$0" -mindepth 1 -delete`) }

// fill leaves no room on the disk, and free gives it back.
func (d *disk) fill() error { return d.run(`! cat /dev/zero > "$0"/filler 2> /dev/null`) }
func (d *disk) free() error { return d.run(`rm "$0"/filler`) }

// wipe kills a NATS server and takes away its streams, which it has from the others
// afterwards. Until then none of these may be missing.
func (x *chaos) wipe(p *processtest.Process, d *disk) {
	x.harmDisk(p, "wipe", func() error {
		p.Kill()
		return d.empty()
	})
}

// fill leaves a NATS server no room on its disk for a time. It must be started again
// afterwards: it does not write any more, whatever room there is.
func (x *chaos) fill(ctx context.Context, p *processtest.Process, d *disk, full time.Duration) {
	x.harmDisk(p, "fill", func() error {
		if err := d.fill(); err != nil {
			return err
		}
		pause(ctx, full)
		if err := d.free(); err != nil {
			return err
		}
		p.Kill()
		return nil
	})
}

// harmDisk does something to the disk of a NATS server that is not running afterwards, and
// waits until the server has all streams again, even when the time for faults is over.
func (x *chaos) harmDisk(p *processtest.Process, kind string, harm func() error) {
	x.routes.Lock()
	defer x.routes.Unlock()
	if x.c.whole() != nil {
		return // a link between two others has just been cut
	}
	at := time.Now()
	if err := harm(); err != nil {
		x.c.t.Error(err)
	}
	if err := p.Start(); err != nil {
		x.c.t.Error(err)
	}
	if err := processtest.Within(processtest.Patience, x.c.whole); err != nil {
		x.c.t.Errorf("%s of %s: %v", kind, p.Name, err)
	}
	x.note(fault{kind, p.Name, at, time.Since(at)})
}
