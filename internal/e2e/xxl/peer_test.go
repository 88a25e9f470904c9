//go:build unix

package xxl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// peer is an executor of XXL-JOB's protocol that runs as a process.
type peer struct {
	*processtest.Process
	kind    kind
	address string // without a slash at its end
	appname string
	token   string
	witness string // the file in which its handlers say that they began and ended
}

// kind is a program that speaks the protocol.
type kind struct {
	name    string // as a folder of testdata
	java    bool   // then the name is the version
	dialect string
}

func (k kind) command(t *testing.T) []string {
	t.Helper()
	switch {
	case k.java:
		return javaCommand(t, k.name)
	case k.dialect == "C":
		return []string{processtest.Program(t, "standin")}
	}
	return goCommand(t)
}

// everyKind returns all, in the order of their age.
func everyKind() []kind {
	var all []kind
	for _, version := range versions {
		all = append(all, javaOf(version))
	}
	return append(all, goClient, standIn)
}

var (
	goClient = kind{name: "go-1.2.0", dialect: "A"}
	standIn  = kind{name: "standin", dialect: "C"}
)

// javaOf returns the executor in Java of a version.
func javaOf(version string) kind {
	k := kind{name: version, java: true, dialect: "A"}
	if version >= "3.3" {
		k.dialect = "B"
	}
	return k
}

// runPath is where an admin hands over a run.
func (k kind) runPath() string {
	if k.dialect == "C" {
		return "/trigger"
	}
	return "/run"
}

// settings are what the executors of a test have in common, or not.
type settings struct {
	admin   string // addresses, separated by commas
	appname string
	token   string
	witness string // of several executors one file; of this one alone if empty
	port    int    // one that is free if 0
}

// newPeer returns an executor that has not been started.
func newPeer(t *testing.T, k kind, s settings) *peer {
	t.Helper()
	dir := t.TempDir()
	if s.witness == "" {
		s.witness = filepath.Join(dir, "witness")
	}
	if s.port == 0 {
		s.port = processtest.FreePorts(t, 1)[0]
	}
	env := []string{
		"XXL_ADMIN=" + s.admin, "XXL_APPNAME=" + s.appname, "XXL_TOKEN=" + s.token,
		"XXL_DIALECT=" + k.dialect, "XXL_PORT=" + strconv.Itoa(s.port), "XXL_LOGS=" + filepath.Join(dir, "logs"), "XXL_WITNESS=" + s.witness,
	}
	return &peer{
		Process: processtest.New(t, fmt.Sprintf("%s-%d", k.name, s.port), env, k.command(t)...),
		kind:    k, address: fmt.Sprintf("http://127.0.0.1:%d", s.port), appname: s.appname, token: s.token, witness: s.witness,
	}
}

// Begin starts the executor and waits until it answers.
func (p *peer) Begin(t *testing.T) {
	t.Helper()
	p.Process.Begin(t)
	processtest.Await(t, processtest.Patience, "wait for "+p.Name+" to answer", func() error {
		if err := p.Alive(); err != nil {
			t.Fatal(err)
		}
		_, err := p.ask(t, "/beat", nil)
		return err
	})
}

// reply is what an executor has answered.
type reply struct {
	Status  int
	Type    string // Content-Type
	Body    []byte
	Outcome outcome // of the body, as far as it can be read
}

// outcome is the envelope of every answer, and what is needed of its content.
type outcome struct {
	Code    int             `json:"code"`
	Msg     string          `json:"msg"`
	Content json.RawMessage `json:"content"`
	Data    json.RawMessage `json:"data"`
}

// ask sends a message as an admin does.
func (p *peer) ask(t *testing.T, path string, body any) (reply, error) {
	t.Helper()
	return p.askWith(t, p.token, path, body)
}

func (p *peer) askWith(t *testing.T, token, path string, body any) (reply, error) {
	t.Helper()
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.address+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	req.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
	req.Header.Set("XXL-JOB-APPNAME", p.appname)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{Status: resp.StatusCode, Type: resp.Header.Get("Content-Type")}
	if r.Body, err = io.ReadAll(resp.Body); err != nil {
		return r, err
	}
	_ = json.Unmarshal(r.Body, &r.Outcome) // some answers are no objects
	return r, nil
}

// mustAsk is ask where the executor has to answer.
func (p *peer) mustAsk(t *testing.T, path string, body any) reply {
	t.Helper()
	r, err := p.ask(t, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", p.Name, path, err)
	}
	return r
}

// line is a line of a witness: a handler has begun or ended with a parameter.
type line struct {
	what, handler string // "start" or "end"
	index         int
	param         string
	outcome       string // of an end
	peer          *peer
}

// witnessed returns what the handlers have said.
func (p *peer) witnessed(t *testing.T) []line {
	t.Helper()
	var lines []line
	for text := range strings.Lines(string(readIfThere(t, p.witness))) {
		f := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
		if len(f) != 5 {
			t.Fatalf("%s: a line of %d fields: %q", p.witness, len(f), text)
		}
		index, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line{peer: p, what: f[0], handler: f[1], index: index, param: f[3], outcome: f[4]})
	}
	return lines
}
