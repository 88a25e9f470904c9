package conformance

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var startCases = []Case{
	{Name: "heartbeat", Passage: "Heartbeats", Rule: "an executor publishes a heartbeat with all fields when it starts, and again every 5 s", run: func(t *test) {
		h := t.instance()
		if h.Protocol != fleet.Protocol || h.State != fleet.InstanceOnline || h.Slots < 1 || !slices.Contains(h.Kinds, "handler") || h.SDK == "" || h.Host == "" || h.PID == 0 || h.StartedAt.IsZero() || h.At.IsZero() {
			t.failf("fields are missing or wrong: %+v", h)
		}
		for _, handler := range Handlers {
			if !slices.Contains(h.Handlers, handler.Name) && handler.Name != "nan" && handler.Name != "start" {
				t.failf("handler %q is not announced: %v", handler.Name, h.Handlers)
			}
		}
		found, ok := t.await(t.ctx, 0, 2, 7*time.Second, isBeat)
		if !ok {
			t.failf("no second heartbeat within 7 s")
		}
		if apart := found[1].at.Sub(found[0].at); apart > 6*time.Second {
			t.failf("two heartbeats are %s apart", apart)
		}
	}},
	{Name: "listens-before-heartbeat", Passage: "Requests", Rule: "an executor subscribes to its requests before its first heartbeat", run: func(t *test) {
		if reply := t.ask(bus.VerbBeat, nil, ""); reply.Answer != fleet.AnswerAccepted {
			t.failf("beat was answered with %s", reply.Answer)
		}
	}},
	{Name: "pull-after-heartbeat", Passage: "Heartbeats", Rule: "an executor does not pull until its first heartbeat is stored", run: func(t *test) {
		found, ok := t.await(t.ctx, 0, 1, seconds, func(h heard) bool { return strings.HasPrefix(h.subject, "$JS.API.CONSUMER.MSG.NEXT.") })
		if !ok {
			t.failf("no pull request")
		}
		if beats := t.since(0, isBeat); beats[0].at.After(found[0].at) {
			t.failf("it pulled before its first heartbeat")
		}
	}},
	{Name: "handlers-announced", Passage: "Handlers", Level: Robust, Rule: "an executor announces each handler under its name in unpadded base64url; a schema is a valid one", run: func(t *test) {
		key := "$KV." + bus.BucketHandler + "." + group + "." + base64.RawURLEncoding.EncodeToString([]byte("echo"))
		found, ok := t.await(t.ctx, 0, 1, seconds, func(h heard) bool { return h.subject == key })
		if !ok {
			t.failf("handler echo is not announced on %s", key)
		}
		var h bus.Handler
		if err := json.Unmarshal(found[0].data, &h); err != nil || h.Handler != "echo" || h.Group != group || h.Instance == "" || h.At.IsZero() {
			t.failf("the announcement is wrong (%v): %s", err, found[0])
		}
		for _, schema := range []json.RawMessage{h.Params, h.Result} {
			if len(schema) == 0 {
				continue
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
			if err != nil {
				t.failf("a schema is not JSON: %v", err)
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("schema.json", doc); err != nil {
				t.failf("a schema is not valid: %v", err)
			}
			if _, err := c.Compile("schema.json"); err != nil {
				t.failf("a schema is not valid: %v", err)
			}
		}
	}},
}
