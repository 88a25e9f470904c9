package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// The page shows one run as the Go SDK and the kit send it, with other names, ids and instants.
func TestThePageShowsARunOnTheWireAsItIs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n```wire\n")
	block, _, _ = strings.Cut(block, "\n```")
	s, err := newStage(t.Context(), Case{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	go s.serve(t.Context())
	p, err := start(t.Context(), []string{build(t)}, s.proxy.url(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	var got string
	failed := (&test{stage: s, ctx: t.Context(), exec: p}).attempt(Case{run: func(t *test) { got = t.onTheWire() }})
	if failed != "" {
		t.Fatal(failed)
	}
	if got != block {
		t.Errorf("%s shows a run on the wire as\n%s\n\nand it is\n%s", page, block, got)
	}
}

// onTheWire performs one run, and returns its messages as the page shows them.
func (t *test) onTheWire() string {
	request := t.firstPull()
	g := t.trigger("lines", map[string]any{"count": 1}, func(tr *bus.Trigger) { tr.Version = 3 })
	m := g.message()
	g.pulledAs(m, 1)
	g.ended(seconds)
	ack := g.answered("+ACK", seconds)
	next := t.since(0, func(h heard) bool { return strings.HasPrefix(h.subject, nextPrefix) })[0]
	lines, end := g.since(g.mark, g.isLog)[0], g.events(bus.EventFinished)[0]

	var b strings.Builder
	show := func(who, subject, reply string, header nats.Header, data []byte) {
		fmt.Fprintf(&b, "%s %s\n", who, subject)
		if reply != "" {
			fmt.Fprintf(&b, "reply: %s\n", reply)
		}
		for _, name := range []string{bus.HeaderMessage, nats.MsgIdHdr, bus.HeaderToken} {
			if v := header.Get(name); v != "" {
				fmt.Fprintf(&b, "%s: %s\n", name, v)
			}
		}
		fmt.Fprintf(&b, "%s\n\n", wrapped(string(data)))
	}
	show("executor ->", next.subject, request.reply, nil, next.data)
	show("NATS     ->", request.reply, g.ack, m.Header, m.Data)
	show("executor ->", lines.subject, "", lines.header, lines.data)
	show("executor ->", end.subject, "", end.header, end.data)
	show("executor ->", ack.subject, "", nil, ack.data)
	return g.asOnThePage(strings.TrimSpace(b.String()))
}

// asOnThePage replaces what differs from run to run by the names of the page.
func (g *given) asOnThePage(text string) string {
	const name job.Name = "billing/report"
	instant := regexp.MustCompile(`"(\w+)":"20\d\d-[^"]*Z"`)
	at := map[string]string{
		"fire_time": "02:00:00Z", "committed_at": "02:00:00.012Z", "delivered_at": "02:00:00.021Z", "started_at": "02:00:00.03Z",
		"finished_at": "02:00:00.034Z", "at": "02:00:00.034Z",
	}
	text = instant.ReplaceAllStringFunc(text, func(found string) string {
		field := instant.FindStringSubmatch(found)[1]
		return `"` + field + `":"2026-01-05T` + at[field] + `"`
	})
	text = regexp.MustCompile(`(_INBOX_\w+)\.\S+`).ReplaceAllString(text, "$1.k3x9qa.1")
	text = regexp.MustCompile(`(\$JS\.ACK\.TRIG\.any-\w+\.1)\.\S+`).ReplaceAllString(text, "$1.4711.803.1767578400021000000.0")
	return strings.NewReplacer(
		string(g.RunID), "019b8be1-f500-746c-9285-f6b4613a1707", g.token, "0f3a91c2.mYx0c5S1bq3v8o2LZrNw4A",
		g.instance().Instance.Instance, "web1-4711-k3x9qa",
		`"shard":`+strconv.Itoa(g.Shard), `"shard":`+strconv.Itoa(name.Shard(shards)), "evt."+strconv.Itoa(g.Shard)+".", "evt."+strconv.Itoa(name.Shard(shards))+".",
		`"conformance/lines"`, `"`+string(name)+`"`, `{"handler":"lines"}`, `{"handler":"report"}`, group, "billing",
	).Replace(text)
}

// wrapped breaks JSON between fields, so that it fits on a page.
func wrapped(text string) string {
	const width = 90
	if !json.Valid([]byte(text)) {
		return text
	}
	var lines []string
	line := ""
	for i, part := range strings.Split(text, `,"`) {
		if i > 0 {
			part = `"` + part
			line += ","
		}
		if line != "" && len(line)+len(part) > width {
			lines, line = append(lines, line), " "
		}
		line += part
	}
	return strings.Join(slices.Concat(lines, []string{line}), "\n")
}
