//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// A program with a group's credential pulls the group's triggers by raw NATS messages and
// gives each back at once. Its group is refused for a minute, and works after that.
func TestAGroupThatGivesBackWithoutADelayIsRefusedForAMinute(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("jobs.yaml", "job: alpha/hello\noverlap: allow\ntask: {shell: echo hi}\n"))
	_, file := g.credential("alpha", "a")
	honest := g.executor("alpha", file)
	g.ann.run(0, "", "run alpha/hello --wait", "succeeded")
	honest.Terminate()

	seed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	evil, _ := g.connect(string(seed), bus.ExecutorInbox("alpha"))
	inbox := evil.NewInbox()
	pull := func() error {
		return evil.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.TRIG."+bus.ConsumerAny("alpha"), inbox, []byte(`{"batch":1,"expires":60000000000}`))
	}
	if _, err := evil.Subscribe(inbox, func(m *nats.Msg) {
		if m.Reply != "" {
			_ = evil.Publish(m.Reply, []byte("-NAK"))
		}
		_ = pull()
	}); err != nil {
		t.Fatal(err)
	}
	for range 10 { // on a busy machine one alone does not come again often enough
		if err := pull(); errors.Is(err, nats.ErrReconnectBufExceeded) {
			break // it is cut off already
		} else if err != nil {
			t.Fatal(err)
		}
		g.ann.run(0, "", "run alpha/hello")
	}
	processtest.Await(t, processtest.Patience, "wait for the incident", func() error {
		if out := g.ann.run(0, "", "get incidents"); !strings.Contains(out, "executors of group alpha gave triggers back without a delay") {
			return fmt.Errorf("incidents:\n%s", out)
		}
		return nil
	})

	evil.Close()
	g.executor("alpha", file) // it is admitted when the minute is over
	g.ann.run(0, "", "run alpha/hello --wait", "succeeded")
}
