//go:build linux

package packaged

import (
	"errors"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

var address = regexp.MustCompile(`API and console +(http://\S+)`)

func TestTheArchiveStartsOnAnEmptyFolderAndFires(t *testing.T) {
	r := released(t)
	s := newSite(t, r)
	started := time.Now()
	dev := processtest.New(t, "dev", nil, s.program, "dev", "--data", filepath.Join(t.TempDir(), "data"), "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0")
	dev.Begin(t)
	var url string
	processtest.Await(t, processtest.Patience, "wait for the address of dev", func() error {
		found := address.FindStringSubmatch(dev.Said())
		if found == nil {
			return errors.Join(errors.New("there is none yet"), dev.Alive())
		}
		url = found[1]
		return nil
	})
	t.Setenv("CARILLON_SERVER", url)
	s.tick("{shell: 'echo hello'}")
	s.awaitFires(1)
	t.Logf("%s from the start of dev to the first run that succeeded", time.Since(started).Round(100*time.Millisecond))
	s.awaitFires(3)
	s.checkLedger()
	dev.Interrupt()
	if code, err := dev.Wait(processtest.Patience); code != 0 || err != nil {
		t.Errorf("after SIGINT, dev ends with code %d, %v", code, err)
	}
}
