package bus_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const pingShards = 8

func aPing() *bus.Ping {
	return &bus.Ping{ID: "0123456789abcdef", Job: "ops/backup", Kind: bus.PingEnd, Key: "a.b-c_1", Age: job.Duration(time.Minute), Output: "done\n"}
}

func TestPingsOfServersAreReadAsTheyWereWritten(t *testing.T) {
	tokens := bus.NewTokens()
	m, err := tokens.ServerPing(aPing(), "r", pingShards, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, err := tokens.DecodePing(m.Subject, m.Header, m.Data, pingShards)
	if err != nil || *p != *aPing() {
		t.Errorf("%+v, %v", p, err)
	}
	for e, err := range tokens.DecodeEvents(m.Subject, m.Header, m.Data, time.Now(), 1, pingShards) {
		t.Errorf("an event: %v, %v", e, err)
	}
}

func TestRepeatsOfAPingHaveOneID(t *testing.T) {
	tokens := bus.NewTokens()
	id := func(of job.Name, repeat string) string {
		p := aPing()
		p.Job = of
		m, err := tokens.ServerPing(p, repeat, pingShards, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return m.Header.Get(nats.MsgIdHdr)
	}
	if one := id("a/b", "r"); one != id("a/b", "r") {
		t.Error("two ids of one ping")
	}
	if id("a/b", "r") == id("a/b", "s") || id("a/b", "r") == id("a/c", "r") {
		t.Error("one id of two pings")
	}
}

// What holds the credential of a group can write to the subjects of its events.
func TestPingsThatNoServerWroteAreRefused(t *testing.T) {
	tokens := bus.NewTokens()
	m, err := tokens.ServerPing(aPing(), "r", pingShards, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	token := m.Header.Get(bus.HeaderToken)
	trigger := tokens.Trigger(&bus.Trigger{Job: "ops/backup", RunID: job.NewRunID(time.Now()), Attempt: 1}, false, time.Now())
	for name, c := range map[string]struct {
		subject, token, data string
	}{
		"no token":             {m.Subject, "", string(m.Data)},
		"the token of a run":   {m.Subject, trigger, string(m.Data)},
		"other data":           {m.Subject, token, string(m.Data) + " "},
		"subject of a group":   {bus.SubjectEvent(aPing().Job.Shard(pingShards), "other"), token, string(m.Data)},
		"subject of a shard":   {bus.SubjectEvent(aPing().Job.Shard(pingShards)+1, "ops"), token, string(m.Data)},
		"token of another one": {m.Subject, bus.NewTokens().Trigger(&bus.Trigger{}, false, time.Now()), string(m.Data)},
	} {
		header := nats.Header{bus.HeaderMessage: {bus.MessagePing}, bus.HeaderToken: {c.token}}
		if p, err := tokens.DecodePing(c.subject, header, []byte(c.data), pingShards); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestPingsAreBounded(t *testing.T) {
	for field, change := range map[string]func(*bus.Ping){
		"ping":    func(p *bus.Ping) { p.ID = "x" },
		"job":     func(p *bus.Ping) { p.Job = "x" },
		"kind":    func(p *bus.Ping) { p.Kind = "log" },
		"run":     func(p *bus.Ping) { p.Key = "a b" },
		"age":     func(p *bus.Ping) { p.Age = job.Duration(bus.MaxPingAge + 1) },
		"took":    func(p *bus.Ping) { p.Took = -1 },
		"exit":    func(p *bus.Ping) { p.ExitCode = new(int); *p.ExitCode = 256 },
		"message": func(p *bus.Ping) { p.Message = string(make([]byte, bus.MaxPingMessage+1)) },
		"host":    func(p *bus.Ping) { p.Host = string(make([]byte, bus.MaxPingHost+1)) },
		"output":  func(p *bus.Ping) { p.Output = string(make([]byte, bus.MaxPingOutput+1)) },
	} {
		p := aPing()
		change(p)
		_, err := bus.NewTokens().ServerPing(p, "r", pingShards, time.Now())
		problems := job.Problems(err)
		if len(problems) != 1 || problems[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
