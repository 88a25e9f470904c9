//go:build linux

package packaged

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// site is where somebody has unpacked carillon and the files of deploy, and runs commands.
type site struct {
	*testing.T
	program string
	folder  string // of compose.yaml
	began   time.Time
}

func newSite(t *testing.T, r release) *site {
	t.Helper()
	return &site{T: t, program: r.program(t), folder: filepath.Join(r.unpack(t, "carillon-deploy.tar.gz"), "deploy", "compose"), began: time.Now()}
}

// command returns a command in the folder, with carillon in its PATH and a password for whoever asks.
func (s *site) command(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-euc", line)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(s.program)+":"+os.Getenv("PATH"), "CARILLON_CONFIG="+filepath.Join(s.folder, "contexts.json"))
	cmd.Stdin = strings.NewReader("correct horse battery staple\n")
	return cmd
}

// sh runs a command to its end, and returns what it prints.
func (s *site) sh(line string) string {
	s.Helper()
	return output(s.T, s.command(line))
}

// await runs a command until it succeeds and prints the words.
func (s *site) await(line, words string) {
	s.Helper()
	processtest.Await(s.T, processtest.Patience, line, func() error {
		out, err := s.command(line).CombinedOutput()
		if err == nil && !strings.Contains(string(out), words) {
			err = fmt.Errorf("it does not print %q", words)
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// write writes a file of the folder.
func (s *site) write(name, text string) {
	s.Helper()
	write(s.T, filepath.Join(s.folder, name), text)
}

// oneTimeLink is what a server logs while there is no administrator, in JSON or as text.
var oneTimeLink = regexp.MustCompile(`https?://[a-z0-9.:]+/sign-in#invitation=[a-z0-9]+`)

// signIn creates the administrator by the link in the log of a server, whose address it is told.
func (s *site) signIn(address string, logs ...*container) {
	s.Helper()
	var link string
	processtest.Await(s.T, processtest.Patience, "find the link in the log", func() error {
		for _, server := range logs {
			if link = oneTimeLink.FindString(server.Said()); link != "" {
				return nil
			}
			if err := server.Alive(); err != nil {
				s.Fatal(err)
			}
		}
		return errors.New("there is none yet")
	})
	s.await(fmt.Sprintf("carillon login %s --ca secrets/tls/ca.pem --user ann --link '%s'", address, link), "ann")
}

// tick saves a job that fires each second.
func (s *site) tick(task string) {
	s.Helper()
	s.write("tick.yaml", "job: default/tick\nschedule: {fixed_rate: 1s}\nmisfire: {policy: fire_all}\ntask: "+task+"\n")
	s.await("carillon apply -f tick.yaml", "default/tick")
}

// awaitFires waits for more runs of the job that succeeded.
func (s *site) awaitFires(more int) {
	s.Helper()
	want := -1
	processtest.Await(s.T, processtest.Patience, "wait for fires", func() error {
		out, err := s.command("carillon get runs --job default/tick --status succeeded --export ndjson").Output()
		if err != nil {
			return fmt.Errorf("get runs: %w", err)
		}
		runs := strings.Count(string(out), "\n")
		if want < 0 {
			want = runs + more
		}
		if runs < want {
			last, _ := s.command("carillon logs default/tick; carillon get runs --job default/tick --limit 1 -o json").CombinedOutput()
			return fmt.Errorf("%d runs, want %d; the last: %s", runs, want, last)
		}
		return nil
	})
}

// checkLedger wants every fire since the site began to have its run, or a reason.
func (s *site) checkLedger() {
	s.Helper()
	var judged struct {
		Total struct{ Fires, Missed, Discrepancies int } `json:"total"`
	}
	if err := json.Unmarshal([]byte(s.sh("carillon ledger verify --from "+s.began.UTC().Format(time.RFC3339)+" -o json")), &judged); err != nil {
		s.Fatal(err)
	}
	if judged.Total.Fires == 0 || judged.Total.Missed > 0 || judged.Total.Discrepancies > 0 {
		s.Errorf("the ledger has %+v", judged.Total)
	}
	s.Logf("the ledger has %+v", judged.Total)
}
