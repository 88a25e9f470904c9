//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

var natsPattern = regexp.MustCompile(`NATS +(nats://\S+)`)

func TestAnExecutorThatForgesIsCountedAndBreaksNothing(t *testing.T) {
	t.Parallel()
	d := newDev(t)
	d.Begin(t)
	conn, err := cluster.Connect(jet.Config{URL: natsPattern.FindStringSubmatch(d.Said())[1]})
	if err != nil {
		t.Fatal(err)
	}
	nc := conn.NC
	defer nc.Close()
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	victim := d.run(t, "ask-me")
	d.awaitSuccess(t, victim)

	// What an executor of group "default" may publish, and what it must not say there of a
	// run that it was given.
	token := conn.Tokens().Trigger(&bus.Trigger{RunID: victim, Job: "default/ask-me", Attempt: 1}, false, time.Now())
	shard := job.Name("default/ask-me").Shard(cluster.DefaultShards)
	own := bus.SubjectEvent(shard, "default")
	event := func(change func(*bus.Event)) []byte {
		e := &bus.Event{
			Kind: bus.EventFinished, RunID: victim, Job: "default/ask-me", Version: 1, Shard: shard, Attempt: 1,
			Cause: job.CauseAPI, FireTime: victim.Time(), CommittedAt: victim.Time(), At: time.Now(), Status: job.StatusFailed,
		}
		change(e)
		m, err := e.Msg(token)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	forged := 0
	forge := func(subject, kind string, data []byte) {
		t.Helper()
		m := bus.NewMessage(subject, kind, data)
		m.Header.Set(bus.HeaderToken, token)
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		forged++
	}
	forge(own, bus.MessageEvent, []byte("garbage \x00\xff"))
	forge(own, bus.MessageEvent, []byte(`{"kind":"finished"}`))
	forge(own, bus.MessageEvent, []byte(strings.Repeat("[", 100_000)))
	forge(own, bus.MessageTrigger, event(func(*bus.Event) {}))
	forge(own, bus.MessageEvent, event(func(e *bus.Event) { e.Job = "payroll/report" }))
	forge(own, bus.MessageEvent, event(func(e *bus.Event) { e.Kind = "promoted" }))
	forge(own, bus.MessageEvent, event(func(e *bus.Event) { e.Attempt = -1 }))
	forge(own, bus.MessageEvent, event(func(e *bus.Event) { e.RunID = "../../etc/passwd" }))
	forge("evt.9999.default", bus.MessageEvent, event(func(e *bus.Event) { e.Shard = 9999 }))
	forge(bus.SubjectLog("default", victim), bus.MessageLog, []byte("garbage"))
	forge(bus.SubjectLog("default", victim), bus.MessageLog, []byte(`{"run_id":"`+string(victim)+`","job":"payroll/report","attempt":1,"lines":[{"seq":1}]}`))

	awaitRefused := func(want int) {
		t.Helper()
		processtest.Await(t, processtest.Patience, "wait for the forgeries to be counted", func() error {
			n, err := refused(t, d)
			if err == nil && n != want {
				err = fmt.Errorf("%d refused of %d", n, want)
			}
			return err
		})
	}
	awaitRefused(forged)
	// People look at them, send them again, which this program still refuses, and throw them away.
	all := fmt.Sprintf("%d of %d\n", forged, forged)
	letters := func(want string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), processtest.Program(t, "carillon"), append(args, "--server", d.api.Address())...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("carillon %v: %v\n%s\nwant %q", args, err, out, want)
		}
	}
	letters(`kind "promoted" must be`, "get", "dead-letters")
	letters("garbage", "get", "dead-letters", "1")
	letters(all, "dead-letter", "replay", "--all")
	awaitRefused(2 * forged)
	letters(all, "dead-letter", "delete", "--all")
	letters("no dead letters", "get", "dead-letters")
	// One that knows the run, and was not given it, is refused.
	if err := nc.PublishMsg(bus.NewMessage(own, bus.MessageEvent, event(func(*bus.Event) {}))); err != nil {
		t.Fatal(err)
	}
	awaitRefused(2*forged + 1)
	letters(bus.HeaderToken+" is missing", "get", "dead-letters")
	// A second end of a run that has one comes too late, and changes nothing: one that is well
	// formed, and those of which it is plain whose end they are, though something in them is wrong.
	for _, change := range []func(*bus.Event){
		func(*bus.Event) {},
		func(e *bus.Event) { e.Shard = shard + 1 },
		func(e *bus.Event) { e.Status = job.StatusSkipped },
	} {
		late := bus.NewMessage(own, bus.MessageEvent, event(change))
		late.Header.Set(bus.HeaderToken, token)
		if err := nc.PublishMsg(late); err != nil {
			t.Fatal(err)
		}
	}
	next := d.run(t, "ask-me")
	d.awaitSuccess(t, next)
	d.awaitLog(t, next, string(next))
	detail, err := client.Read[client.RunDetail](d.api.GetRun(t.Context(), string(victim)))
	if err != nil || detail.Status != job.StatusSucceeded || len(detail.Attempts) != 1 {
		t.Errorf("the run that was lied about: %+v, %v", detail, err)
	}
	d.Interrupt(t)
}

var refusedPattern = regexp.MustCompile(`(?m)^carillon_ingest_refused_total\{.*\} (\d+)$`)

// refused returns how many messages ingest has refused.
func refused(t *testing.T, d *dev) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.api.Address()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, found := range refusedPattern.FindAllStringSubmatch(string(body), -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil {
			return 0, err
		}
		total += n
	}
	if total == 0 {
		return 0, errors.New("none yet")
	}
	return total, nil
}
