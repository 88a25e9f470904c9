package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// puppet is what a fake worker is to do in a run, in this order. In the lines ID is that of the run.
type puppet struct {
	Meet   string   `json:"meet,omitempty"`   // an address, to which it connects, and goes on when told to
	Child  string   `json:"child,omitempty"`  // a child process connects there, and stays
	Stderr string   `json:"stderr,omitempty"` // text
	Flood  bool     `json:"flood,omitempty"`  // of standard error, without end
	Lines  []string `json:"lines,omitempty"`
	Half   string   `json:"half,omitempty"` // a line without its end
	Exit   int      `json:"exit,omitempty"`
	Cancel []string `json:"cancel,omitempty"` // lines, when it is cancelled
	Await  int      `json:"await,omitempty"`  // so many starts, whose answers are the result
}

// The test binary is also the fake worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		fake(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

const twoHandlers = `[{"name":"puppet","description":"Does what it is told"},{"name":"echo","params_schema":{"type":"object"}}]`

// fake is a worker process.
func fake(mode string, args []string) {
	slots := "1"
	switch mode {
	case "child": // of a worker
		meet(args[0], "child")
		return
	case "silent":
		meet(args[0], "silent")
	case "ends":
		fmt.Fprintln(os.Stderr, "no such class: Report")
		os.Exit(7)
	case "wrong":
		fmt.Println(`{"type":"result","id":"1"}`)
	case "banner":
		fmt.Println("Welcome!")
	case "differs": // from the first, which makes the file
		if f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
		} else {
			fmt.Println(`{"type":"register","handlers":[{"name":"other"}]}`)
			mode = ""
		}
	case "slots":
		slots = args[0]
	}
	if mode != "" {
		fmt.Printf(`{"type":"register","slots":%s,"handlers":%s}`+"\n", slots, twoHandlers)
	}
	f := fakeWorker{told: map[string]puppet{}, answers: map[string][]string{}}
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if mode == "stubborn" {
				meet(args[0], "stubborn")
			}
			return
		}
		f.take(line, mode, args)
	}
}

// badByte stands for a byte that is no UTF-8.
const badByte = "BADBYTE"

type fakeWorker struct {
	mu          sync.Mutex
	told        map[string]puppet
	answers     map[string][]string // of starts, by run
	now, atOnce atomic.Int32
}

func (f *fakeWorker) take(line []byte, mode string, args []string) {
	var m struct {
		Type, ID, Handler, Reason string
		Params                    json.RawMessage
	}
	if err := json.Unmarshal(line, &m); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	switch m.Type {
	case "run":
		var p puppet
		if m.Handler == "echo" {
			p.Lines = []string{`{"type":"result","id":"ID","result":` + strings.TrimSpace(string(line)) + `}`}
		} else if err := json.Unmarshal(m.Params, &p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		f.mu.Lock()
		f.told[m.ID] = p
		f.mu.Unlock()
		go f.run(m.ID, p)
	case "started":
		f.mu.Lock()
		f.answers[m.ID] = append(f.answers[m.ID], strings.TrimSpace(string(line)))
		p, all := f.told[m.ID], f.answers[m.ID]
		f.mu.Unlock()
		if len(all) == p.Await {
			f.say(m.ID, []string{`{"type":"result","id":"ID","result":[` + strings.Join(all, ",") + `]}`}, strings.NewReplacer())
		}
	case "cancel":
		f.mu.Lock()
		p := f.told[m.ID]
		f.mu.Unlock()
		f.say(m.ID, p.Cancel, strings.NewReplacer("REASON", m.Reason))
	case "shutdown":
		if mode == "polite" {
			meet(args[0], "shutdown")
			os.Exit(0)
		}
	}
}

func (f *fakeWorker) run(id string, p puppet) {
	n := f.now.Add(1)
	for most := f.atOnce.Load(); n > most && !f.atOnce.CompareAndSwap(most, n); most = f.atOnce.Load() {
	}
	if p.Meet != "" {
		meet(p.Meet, id)
	}
	if p.Child != "" {
		if err := exec.Command(os.Args[0], "fake", "child", p.Child).Start(); err != nil {
			panic(err)
		}
	}
	fmt.Fprint(os.Stderr, p.Stderr)
	for n := 0; p.Flood; n++ {
		if n == 4 { // more than the pipe holds
			go meet(p.Meet, "flood")
		}
		fmt.Fprint(os.Stderr, strings.Repeat("x\n", 16<<10))
	}
	f.now.Add(-1)
	f.say(id, p.Lines, strings.NewReplacer("PID", strconv.Itoa(os.Getpid()), "ATONCE", strconv.Itoa(int(f.atOnce.Load()))))
	fmt.Print(p.Half)
	if p.Exit != 0 {
		os.Exit(p.Exit)
	}
}

func (f *fakeWorker) say(id string, lines []string, more *strings.Replacer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range lines {
		fmt.Println(more.Replace(strings.NewReplacer(`"ID"`, `"`+id+`"`, badByte, "\xff").Replace(line)))
	}
}

// meet connects to the test and waits until it is told to go on.
func meet(address, name string) {
	conn, err := net.Dial("unix", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	_, _ = conn.Write([]byte(name + "\n"))
	_, _ = bufio.NewReader(conn).ReadString('\n')
}

// meeting is the test's side of meet.
type meeting struct {
	t        *testing.T
	listener net.Listener
}

func newMeeting(t *testing.T) *meeting {
	t.Helper()
	dir, err := os.MkdirTemp("", "meet") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/s", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	// A guest that does not come fails the test, and does not keep it for ever.
	if err := l.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &meeting{t, l}
}

func (m *meeting) address() string { return m.listener.Addr().String() }

// guest is a fake worker, or a child of it, that waits.
type guest struct {
	t    *testing.T
	name string
	conn net.Conn
	in   *bufio.Reader
}

// next waits for a guest.
func (m *meeting) next() *guest {
	m.t.Helper()
	conn, err := m.listener.Accept()
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	name, err := in.ReadString('\n')
	if err != nil {
		m.t.Fatal(err)
	}
	return &guest{m.t, strings.TrimSpace(name), conn, in}
}

// goOn lets the guest go on.
func (g *guest) goOn() {
	g.t.Helper()
	if _, err := fmt.Fprintln(g.conn); err != nil {
		g.t.Fatal(err)
	}
}

// gone waits until the guest has ended.
func (g *guest) gone() {
	g.t.Helper()
	if text, err := g.in.ReadString('\n'); err == nil {
		g.t.Errorf("the guest said %q, and was to end", text)
	}
}
