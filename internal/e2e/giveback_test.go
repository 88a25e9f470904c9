//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// A program with a group's credential pulls the group's triggers by raw NATS messages and
// gives each back at once. That is told, and what the group's executor is for gets done.
func TestWhoGivesBackAgainAndAgainIsToldAndKeepsNobodyFromWorking(t *testing.T) {
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("jobs.yaml", "job: alpha/hello\ntask: {shell: echo hi}\n"))
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
	if err := pull(); err != nil {
		t.Fatal(err)
	}
	g.ann.run(0, "", "run alpha/hello")
	processtest.Await(t, processtest.Patience, "wait for the incident", func() error {
		if out := g.ann.run(0, "", "get incidents"); !strings.Contains(out, "an instance of group alpha is suspended") {
			return fmt.Errorf("incidents:\n%s", out)
		}
		return nil
	})

	begun := time.Now()
	g.executor("alpha", file)
	g.ann.run(0, "", "run alpha/hello --wait", "succeeded")
	t.Logf("a run beside it took %s", time.Since(begun).Round(10*time.Millisecond))
}
