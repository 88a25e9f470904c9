//go:build unix

package elsewhere_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func away(w http.ResponseWriter, _ *http.Request) bool {
	http.Error(w, "{}", http.StatusServiceUnavailable)
	return true
}

// quickly runs a wrapper whose server is away.
func (h *host) quickly(name, line string) {
	h.t.Helper()
	if code, _, errOut := h.run(name, "--patience", "1s", "-c", line); code != 0 || errOut != "" {
		h.t.Errorf("exit code %d, %s", code, errOut)
	}
}

func TestTheNextWrapperSendsWhatWasKept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answers(away)
	h := newHost(t, s.URL)
	h.quickly("ops/one", "echo one")
	h.quickly("ops/two", "echo two")
	kept := h.spooled()
	if len(kept) != 2 {
		t.Fatalf("kept %v", kept)
	}
	for _, file := range append(kept, filepath.Dir(kept[0])) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(kept[0]); err != nil || strings.Contains(string(text), apiToken) {
		t.Errorf("the token of the configuration is in %s", text)
	}
	first := s.all("end")
	s.answers(nil)
	h.want(0, "", "", "ops/three", "--", "true")
	await(t, "the pings that were kept", func() bool { return len(s.all("end")) >= len(first)+3 })
	var paths []string
	for _, end := range s.all("end")[len(first):] {
		paths = append(paths, end.path)
		for _, before := range first { // the same ping, older
			if before.path != end.path {
				continue
			}
			was, _ := strconv.ParseFloat(before.values["age"], 64)
			is, _ := strconv.ParseFloat(end.values["age"], 64)
			if before.values["id"] != end.values["id"] || before.output != end.output || is < was || is > 60 {
				t.Errorf("first %+v, then %+v", before, end)
			}
		}
	}
	slices.Sort(paths)
	if want := []string{"/api/v1/jobs/ops/one/ping", "/api/v1/jobs/ops/three/ping", "/api/v1/jobs/ops/two/ping"}; !slices.Equal(paths, want) {
		t.Errorf("sent %v", paths)
	}
	await(t, "an empty spool", func() bool { return len(h.spooled()) == 0 })
}

func TestAPingGoesToTheServerAndByTheTokenThatItHad(t *testing.T) {
	t.Parallel()
	s, other := newServer(t), newServer(t)
	h := newHost(t, other.URL)
	h.env = append(h.env, "CARILLON_WATCH_TOKEN="+pingToken, "CARILLON_SERVER="+s.URL)
	s.answers(away)
	h.quickly("ops/one", "echo one")
	h.env = h.env[:len(h.env)-2]
	s.answers(nil)
	if code, out, errOut := h.run("--flush"); code != 0 || out != "1 sent, 0 left\n" {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	ends := s.all("end")
	if end := ends[len(ends)-1]; end.token != pingToken || end.output != "one\n" || len(other.pings) != 0 {
		t.Errorf("end %+v, and %+v", end, other.pings)
	}
}

func TestARefusedPingIsKeptForADayAndDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answers(away)
	h := newHost(t, s.URL)
	h.quickly("ops/gone", "echo one")
	h.quickly("ops/here", "echo two")
	s.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/gone/") {
			http.Error(w, `{"detail":"job ops/gone is deleted"}`, http.StatusGone)
			return true
		}
		return false
	})
	if code, out, errOut := h.run("--flush"); code != 0 || out != "1 sent, 1 left\n" || errOut != "" {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	kept := h.spooled()
	if len(kept) != 1 || !strings.HasSuffix(kept[0], ".refused") {
		t.Fatalf("kept %v", kept)
	}
	rewind(t, kept[0], 24*time.Hour+time.Second)
	if code, out, errOut := h.run("--flush"); code != 0 || out != "0 sent, 0 left\n" || !strings.HasPrefix(errOut, "dropped a ping of ops/gone from 20") || !strings.HasSuffix(errOut, "410 Gone: job ops/gone is deleted\n") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
}

// rewind makes a ping older, by both clocks.
func rewind(t *testing.T, file string, d time.Duration) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, output, _ := strings.Cut(string(data), "\n")
	var fields map[string]any
	if err := json.Unmarshal([]byte(head), &fields); err != nil {
		t.Fatal(err)
	}
	happened := fields["happened"].(map[string]any)
	wall, err := time.Parse(time.RFC3339Nano, happened["wall"].(string))
	if err != nil {
		t.Fatal(err)
	}
	happened["wall"] = wall.Add(-d)
	happened["boot"] = "another"
	text, err := json.Marshal(fields)
	if err == nil {
		err = os.WriteFile(file, []byte(string(text)+"\n"+output), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAWrapperThatCannotKeepAPingSaysSoAndGoesOn(t *testing.T) {
	t.Parallel()
	f := func(what string, h *host, because string) {
		t.Helper()
		code, out, errOut := h.run("ops/x", "--patience", "100ms", "--", "/bin/sh", "-c", "echo x; exit 9")
		if code != 9 || out != "x\n" || !strings.HasPrefix(errOut, "carillon watch: keep ping: ") || !strings.Contains(errOut, because) {
			t.Errorf("%s: exit code %d, %q, %q", what, code, out, errOut)
		}
		if code, _, errOut = h.run("ops/x", "--patience", "100ms", "--", "/bin/sh", "-c", "exit 9"); code != 9 || errOut != "" {
			t.Errorf("%s, again: exit code %d, %q", what, code, errOut)
		}
	}
	h := newHost(t, "http://127.0.0.1:1")
	if err := os.WriteFile(filepath.Join(h.dir, "state"), nil, 0o600); err != nil { // a file, not a folder
		t.Fatal(err)
	}
	f("no folder", h, "not a directory")

	h = newHost(t, "http://127.0.0.1:1")
	h.env = append(h.env, "XDG_STATE_HOME=/proc/no/such")
	f("a read-only home", h, "no such file or directory")
	if os.Getuid() != 0 {
		return // a disk that is full needs root
	}
	h = newHost(t, "http://127.0.0.1:1")
	disk := filepath.Join(h.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "none", disk).CombinedOutput(); err != nil {
		t.Logf("no small disk: %v: %s", err, out)
		return
	}
	t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
	if err := os.WriteFile(filepath.Join(disk, "full"), make([]byte, 60<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "XDG_STATE_HOME="+disk)
	command := "i=0; while test $i -lt 9000; do echo line $i; i=$((i+1)); done"
	code, _, errOut := h.run("ops/x", "--patience", "100ms", "-c", command)
	if code != 0 || !strings.Contains(errOut, "no space left on device") {
		t.Errorf("a full disk: exit code %d, %q", code, errOut)
	}
	if left, _ := filepath.Glob(filepath.Join(disk, "carillon/watch/*.*")); len(left) != 0 {
		t.Errorf("halves are left: %v", left)
	}
}

func TestAServerThatWasSentTooManyPingsIsNotAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/busy/") {
			return false
		}
		w.Header().Set("Retry-After", "30")
		http.Error(w, "{}", http.StatusTooManyRequests)
		return true
	})
	h := newHost(t, s.URL)
	h.want(0, "", "", "ops/busy", "--", "true")
	if ends, kept := s.all("end"), h.spooled(); len(ends) != 1 || len(kept) != 1 {
		t.Errorf("%d ends, %d kept", len(ends), len(kept))
	}
	s.answers(away)
	h.quickly("ops/x", "true")
	s.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/busy/") {
			return false
		}
		http.Error(w, "{}", http.StatusTooManyRequests)
		return true
	})
	if code, out, errOut := h.run("--flush"); code != 0 || out != "1 sent, 1 left\n" || errOut != "" { // the busy one holds up no other
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
}

func TestWhatWasLostTravelsWithTheNextPing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	dir := filepath.Join(h.dir, "state/carillon/watch")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lost"), []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.want(0, "", "", "ops/x", "--", "true")
	h.want(0, "", "", "ops/x", "--", "true")
	for i, want := range []string{"7 older pings were lost: the spool was full", ""} {
		if ends := s.all("end"); len(ends) != 2 || ends[i].values["message"] != want {
			t.Errorf("ends %+v", ends)
		}
	}
}

func TestAWrapperSendsAtMostTwentyPings(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answers(away)
	h := newHost(t, s.URL)
	h.quickly("ops/x", "true")
	kept := h.spooled()
	data, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 24 {
		if err := os.WriteFile(strings.Replace(kept[0], "watch/", fmt.Sprintf("watch/%02d-", i), 1), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.answers(nil)
	h.want(0, "", "", "ops/x", "--", "true")
	if n := len(h.spooled()); n != 5 {
		t.Errorf("%d of 25 are left", n)
	}
	if code, out, _ := h.run("--flush"); code != 0 || out != "5 sent, 0 left\n" {
		t.Errorf("exit code %d, %s", code, out)
	}
}
