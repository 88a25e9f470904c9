//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// page is a page of the documentation whose commands are run, in a folder and with ports
// of the test's own.
type page struct {
	*testing.T
	folder string
	env    []string
	ports  *strings.Replacer
	words  map[string]string // what only a person can fill in
}

// oneTimeLink is what people are given to choose a password.
var oneTimeLink = regexp.MustCompile(`https://[a-z0-9.:]+/sign-in#invitation=[a-z0-9]+`)

// ownTerminal begins a block of commands that do not end.
const ownTerminal = "# in a terminal of its own\n"

// blocks returns what a page has as commands for a shell.
func blocks(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	return found
}

// fill puts the test's ports and words into commands.
func (p *page) fill(commands string) string {
	commands = p.ports.Replace(commands)
	for placeholder, word := range p.words {
		commands = strings.ReplaceAll(commands, placeholder, word)
	}
	return commands
}

// begin starts a block that does not end.
func (p *page) begin(name, commands string) *processtest.Process {
	p.Helper()
	proc := processtest.New(p.T, name, append(p.env, "PWD="+p.folder), "/bin/sh", "-c", "cd "+p.folder+"\nexec "+strings.TrimPrefix(p.fill(commands), ownTerminal))
	proc.Begin(p.T)
	return proc
}

// run runs a block to its end, with a password for whoever asks, and returns what it says.
func (p *page) run(commands string) (string, error) {
	cmd := exec.Command("/bin/sh", "-eu", "-c", p.fill(commands))
	cmd.Dir, cmd.Env, cmd.Stdin = p.folder, append(os.Environ(), p.env...), strings.NewReader("correct horse battery staple\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s%s%w", commands, out, err)
	}
	return string(out), nil
}

// TestTheSetUpPageWorksAsItStands does what a stranger does who follows
// docs/how-to/set-up.md: block by block, and some more than once until what the block
// before has started is there.
func TestTheSetUpPageWorksAsItStands(t *testing.T) {
	t.Parallel()
	carillon := processtest.Program(t, "carillon")
	free := processtest.FreePorts(t, 5)
	var pairs []string
	for i, port := range []string{"4222", "8822", "9822", "9823", "9900"} {
		pairs = append(pairs, ":"+port, fmt.Sprintf(":%d", free[i]), `", `+port, fmt.Sprintf(`", %d`, free[i]))
	}
	p := &page{
		T: t, folder: t.TempDir(), ports: strings.NewReplacer(pairs...), words: map[string]string{" 2>&1 | tee server.log": " > server.log 2>&1"},
		env: []string{"PATH=" + filepath.Dir(carillon) + ":" + os.Getenv("PATH"), "CARILLON_CONFIG=" + filepath.Join(t.TempDir(), "contexts.json")},
	}
	// What each block is to show, by a command in it.
	wanted := map[string][]string{
		"login --ca ca.pem --user ann": {"ann", "admin", "https://localhost:"},
		"carillon user create":         {"bob chooses a password", "#invitation="},
		"CARILLON_CONFIG=bob.json":     {"bob", "viewer", "needs the role operator everywhere", "exit code 6"},
		"carillon get groups":          {"default", "online"},
		"-f jobs.yaml":                 {"2 created"},
		"default/hello --wait":         {"succeeded", "hello from"},
		"carillon alert test":          {"test message accepted", "exit code 10", "default/broken failed"},
		"carillon audit-log\n":         {"acceptInvitation", "user bob", "createCredential", "putChannelSecret", "runJob"},
		"carillon_shards_owned":        {"carillon_shards_owned", "carillon_executor_runs_total", `"status":"ok"`},
	}
	all := blocks(t, "../../docs/how-to/set-up.md")
	if len(all) < 12 {
		t.Fatalf("the page has %d blocks of commands", len(all))
	}
	var hook *processtest.Process
	shown := 0
	for i, block := range all {
		if strings.HasPrefix(block, ownTerminal) {
			proc := p.begin(fmt.Sprintf("terminal-%d", i), block)
			if strings.Contains(block, "hook.py") {
				hook = proc
			}
			continue
		}
		var words []string
		for command, want := range wanted {
			if strings.Contains(block, command) {
				words, shown = append(words, want...), shown+1
			}
		}
		processtest.Await(t, processtest.Patience, "run what the page says", func() error {
			out, err := p.run(block)
			if err != nil {
				return err
			}
			if link := oneTimeLink.FindString(out); link != "" {
				p.words[p.ports.Replace("https://localhost:8822/sign-in#invitation=…")] = link
			}
			for _, w := range words {
				if !strings.Contains(out, w) {
					return fmt.Errorf("%s says nothing of %q:\n%s", block, w, out)
				}
			}
			return nil
		})
	}
	if shown != len(wanted) {
		t.Errorf("%d blocks showed what they should, of %d", shown, len(wanted))
	}
	processtest.Await(t, processtest.Patience, "hear of the failure by webhook", func() error {
		if said := hook.Said(); !strings.Contains(said, `"event":"test"`) || !strings.Contains(said, "default/broken failed") || !strings.Contains(said, "v1=") {
			return errors.New("it said: " + said)
		}
		return nil
	})
	if export, err := os.ReadFile(filepath.Join(p.folder, "changes.csv")); err != nil || !strings.Contains(string(export), "acceptInvitation") {
		t.Errorf("the export: %v, %s", err, export)
	}
}
