//go:build unix

package elsewhere_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestARunIsReportedWithItsStartItsEndAndItsOutput(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	h.want(3, "out\n", "err\n", "ops/x", "-c", "echo out; echo err >&2; exit 3")
	end := s.end(t)
	if end.path != "/api/v1/jobs/ops/x/ping" || end.token != apiToken || end.values["exit"] != "3" || end.values["host"] == "" {
		t.Errorf("end %+v", end)
	}
	if end.output != "out\nerr\n" && end.output != "err\nout\n" {
		t.Errorf("output %q", end.output)
	}
	if took := end.values["took"]; took == "" || took == "0" {
		t.Errorf("took %q", took)
	}
	for _, start := range s.all("start") { // it may have been called off: the command is short
		if start.values["run"] != end.values["run"] || start.values["id"] == end.values["id"] || start.values["took"] != "" {
			t.Errorf("start %+v, end %+v", start, end)
		}
	}
	if len(end.values["run"]) != 24 {
		t.Errorf("run key %q", end.values["run"])
	}
}

func TestAStartIsReportedWhileTheCommandRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	gate := filepath.Join(h.dir, "gate")
	cmd := h.command("ops/x", "-c", "until test -e "+gate+"; do sleep 0.01; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "a start", func() bool { return len(s.all("start")) == 1 })
	if ends := s.all("end"); len(ends) > 0 {
		t.Errorf("ends %+v", ends)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	s.end(t)
}

func TestAPingTokenIsNeverInTheAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, "")
	h.env = append(h.env, "CARILLON_WATCH_TOKEN="+pingToken, "CARILLON_SERVER="+s.URL)
	h.want(0, "none, key k-1\n", "", "ops/x", "--run", "k-1", "-c", `echo "${CARILLON_WATCH_TOKEN:-none}, key $CARILLON_WATCH_RUN"`)
	if end := s.end(t); end.path != "/ping/end" || end.token != pingToken || end.output != "none, key k-1\n" || end.values["exit"] != "0" || end.values["run"] != "k-1" {
		t.Errorf("end %+v", end)
	}
}

func TestTheExitCodeIsThatOfTheCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	var all sync.WaitGroup
	next := make(chan int)
	for range 4 {
		all.Go(func() {
			for code := range next {
				h.want(code, "", "", "ops/x", "--run", fmt.Sprint("exit-", code), "--", "/bin/sh", "-c", fmt.Sprint("exit ", code))
			}
		})
	}
	for code := range 256 {
		next <- code
	}
	close(next)
	all.Wait()
	ends := s.all("end")
	if len(ends) != 256 {
		t.Errorf("%d ends", len(ends))
	}
	for _, end := range ends {
		if "exit-"+end.values["exit"] != end.values["run"] {
			t.Errorf("end %+v", end)
		}
	}
}

func TestACommandThatCannotBeStartedHasTheExitCodeOfAShell(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	plain := filepath.Join(h.dir, "plain")
	script := filepath.Join(h.dir, "a-script")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("echo script $1; exit 4\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+os.Getenv("PATH")+":"+h.dir)
	f := func(code int, out, errOut, message string, args ...string) {
		t.Helper()
		h.want(code, out, errOut, append([]string{"ops/x", "--"}, args...)...)
		ends := s.all("end")
		if end := ends[len(ends)-1]; end.values["exit"] != strconv.Itoa(code) || end.values["message"] != message {
			t.Errorf("%q: end %+v", args, end)
		}
	}
	none := "start no-such-program: executable file not found in $PATH"
	f(127, "", "carillon watch: "+none+"\n", none, "no-such-program")
	none = "start /no/such: no such file or directory"
	f(127, "", "carillon watch: "+none+"\n", none, "/no/such")
	none = "start " + plain + ": permission denied"
	f(126, "", "carillon watch: "+none+"\n", none, plain)
	none = "start plain: permission denied"
	f(126, "", "carillon watch: "+none+"\n", none, "plain")
	f(4, "script a\n", "", "", script, "a") // without interpreter
	f(4, "script a\n", "", "", "a-script", "a")
}

func TestNothingThatIsWrongKeepsTheCommandFromRunning(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answers(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Header.Get("Authorization") == "":
			http.Error(w, `{"detail":"nobody is signed in"}`, http.StatusUnauthorized)
		case strings.Contains(r.URL.Path, "/ops/gone/"):
			http.Error(w, `{"detail":"job ops/gone is deleted"}`, http.StatusGone)
		case strings.Contains(r.URL.Path, "/ops/page/"):
			_, _ = io.WriteString(w, "<html>")
		case strings.Contains(r.URL.Path, "/ops/moved/"):
			http.Redirect(w, r, "/sign-in", http.StatusFound)
		default:
			return false
		}
		return true
	})
	command := []string{"--", "/bin/sh", "-c", "echo ran; exit 5"}
	f := func(line, config string, args ...string) {
		t.Helper()
		h := newHost(t, "")
		h.configure(config)
		for _, want := range []string{line, ""} { // once an hour
			code, out, errOut := h.run(append(args, command...)...)
			said, rest, _ := strings.Cut(errOut, "\n")
			if code != 5 || out != "ran\n" || !strings.Contains(said, want) || (said != "") != (want != "") || rest != "" {
				t.Errorf("%q: exit code %d, %q, %q", args, code, out, errOut)
			}
		}
	}
	good := "server: " + s.URL + "\ntoken: " + apiToken + "\n"
	f("unknown flag: --bogus", good, "ops/x", "--bogus")
	f(`invalid argument "soon" for "--patience"`, good, "--patience", "soon", "ops/x")
	f("no JOB is named", good)
	f(`"OPS" must be GROUP/NAME`, good, "OPS")
	f(`run "a b" must have`, good, "ops/x", "--run", "a b")
	f("give either -c or a command, not both", good, "ops/x", "-c", "true")
	f("read configuration: ", "server: [", "ops/x")
	f("read configuration: ", "sever: x\n", "ops/x")
	f("must be an address such as", "server: ftp://x\n", "ops/x")
	f("read certificate authorities: ", good+"ca: /no/such.pem\n", "ops/x")
	f("401 Unauthorized: nobody is signed in", "server: "+s.URL+"\n", "ops/x")
	f("410 Gone: job ops/gone is deleted", good, "ops/gone")
	f("without the id of a ping; is another program listening there?", good, "ops/page")
	f("302 Found", good, "ops/moved")
	f("the output is not sent: read mask", good, "ops/x", "--mask", "/no/such")
}

func TestWithoutACommandTheUsageIsWrong(t *testing.T) {
	t.Parallel()
	h := newHost(t, "")
	for _, args := range [][]string{{}, {"ops/x"}, {"ops/x", "--"}, {"--"}, {"ops/x", "--bogus"}, {"ops/x", "-c"}} {
		if code, _, errOut := h.run(args...); code != 2 || !strings.Contains(errOut, "no command is given") {
			t.Errorf("%q: exit code %d, %s", args, code, errOut)
		}
	}
	if code, out, _ := h.run("--help"); code != 0 || !strings.Contains(out, "Run a command that another scheduler starts") {
		t.Errorf("help: exit code %d, %s", code, out)
	}
}

func TestACommandMayStandBehindItsJobWithoutDashes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	h.want(0, "-c --server\n", "", "ops/x", "echo", "-c", "--server")
}

func TestTheTokenOfAFileGoesToNoOtherServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, "https://carillon.example.com")
	h.env = append(h.env, "CARILLON_SERVER="+s.URL)
	h.want(0, "", "", "ops/x", "--", "true")
	if end := s.end(t); end.token != "" {
		t.Errorf("end %+v", end)
	}
}

func TestTheOutputIsCutAndSecretsAreMasked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	mask := filepath.Join(h.dir, "mask")
	if err := os.WriteFile(mask, []byte("hunter2\nhunter22\r\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const line = "echo first hunter22 hunter2; i=0; while test $i -lt 30000; do echo line $i; i=$((i+1)); done; echo last hunter2"
	_, out, _ := h.run("ops/x", "--mask", mask, "-c", line)
	if !strings.HasPrefix(out, "first hunter22 hunter2\nline 0\n") || !strings.HasSuffix(out, "line 29999\nlast hunter2\n") || strings.Count(out, "\n") != 30002 {
		t.Errorf("%d bytes are passed on", len(out))
	}
	sent := s.end(t).output
	if !strings.HasPrefix(sent, "first *** ***\nline 0\n") || !strings.HasSuffix(sent, "line 29999\nlast ***\n") || len(sent) > 64<<10 || len(sent) < 60<<10 {
		t.Errorf("%d bytes are sent: %.40q", len(sent), sent)
	}
	head, tail, cut := strings.Cut(sent, " bytes left out]\n")
	at := strings.LastIndex(head, "\n[")
	if !cut || at < 0 {
		t.Fatal("it is not told that something is left out")
	}
	var left int
	_, err := fmt.Sscan(head[at+2:], &left)
	if whole := len(out) - len("hunter22") - 2*len("hunter2") + 3*len("***"); err != nil || at+left+len(tail) != whole {
		t.Errorf("%d bytes, %d left out, %d bytes; %d in all", at, left, len(tail), whole)
	}
}

func TestAServerThatIsAwayIsWaitedForNoLongerThanThePatience(t *testing.T) {
	t.Parallel()
	silent := newServer(t)
	asked, release := make(chan struct{}, 10), make(chan struct{})
	silent.answers(func(http.ResponseWriter, *http.Request) bool {
		asked <- struct{}{}
		<-release
		return true
	})
	t.Cleanup(func() { close(release) })
	for name, address := range map[string]string{"silent": silent.URL, "refuses": "http://127.0.0.1:1", "no such host": "http://carillon.invalid", "no route": "http://192.0.2.1:9"} {
		h := newHost(t, address)
		begun := time.Now()
		h.want(7, "x\n", "", "ops/x", "--patience", "300ms", "--", "/bin/sh", "-c", "echo x; exit 7")
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		if n := len(h.spooled()); n != 1 {
			t.Errorf("%s: %d pings are kept", name, n)
		}
	}
	if len(asked) == 0 {
		t.Error("the silent server was not asked")
	}
}

func TestTheProgramInstallsItself(t *testing.T) {
	t.Parallel()
	h := newHost(t, "")
	dir := filepath.Join(h.dir, "volume")
	if code, _, errOut := h.run("--install", dir); code != 1 || !strings.HasPrefix(errOut, "carillon: copy this program: ") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.want(0, "", "", "--install", dir)
	want, err := os.Stat(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(filepath.Join(dir, "carillon")); err != nil || got.Size() != want.Size() || got.Mode().Perm()&0o111 == 0 {
		t.Errorf("%v, %v", got, err)
	}
}
