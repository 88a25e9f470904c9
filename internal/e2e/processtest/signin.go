//go:build unix

package processtest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// LinkPattern finds the link to create the administrator in what a server says.
var LinkPattern = regexp.MustCompile(`link="?(http[^\s"]+)`)

// SignIn creates the first administrator by the link in the server's log, as people do, with the
// program carillon, and returns the token of that.
func SignIn(t *testing.T, server *Process, carillon string) string {
	t.Helper()
	var link []string
	Await(t, Patience, "wait for the link to create the administrator", func() error {
		if link = LinkPattern.FindStringSubmatch(server.Said()); link == nil {
			return errors.New("nothing yet")
		}
		return nil
	})
	contexts := filepath.Join(t.TempDir(), "contexts.json")
	login := exec.Command(carillon, "login", "--user", "ann", "--link", link[1])
	login.Env = append(os.Environ(), "CARILLON_CONFIG="+contexts)
	login.Stdin = strings.NewReader("correct horse battery staple\n")
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("carillon login: %v: %s", err, out)
	}
	var file struct {
		Contexts []struct {
			Token string `json:"token"`
		} `json:"contexts"`
	}
	data, err := os.ReadFile(contexts)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil || len(file.Contexts) != 1 {
		t.Fatalf("read contexts: %v: %s", err, data)
	}
	return file.Contexts[0].Token
}
