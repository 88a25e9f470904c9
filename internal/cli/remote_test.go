package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestAContextSaysWhichServerAndWhichToken(t *testing.T) {
	t.Setenv(configVariable, filepath.Join(t.TempDir(), "contexts.json"))
	c := &Contexts{}
	c.Put(SignedIn{Name: "test", Server: "https://test", Token: "t1", CA: "test.pem"})
	c.Put(SignedIn{Name: "live", Server: "https://live", Token: "t2"})
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	want := func(want string, args ...string) {
		t.Helper()
		cmd := &cobra.Command{}
		r := NewRemote(cmd)
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		server, token, ca, err := r.where()
		got := strings.Join([]string{server, token, ca}, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
	want("https://live t2 ")
	want("https://test t1 test.pem", "--context", "test")
	want("https://test mine test.pem", "--context", "test", "--token", "mine")
	want("https://test t1 test.pem", "--server", "https://test")
	want("https://other  ", "--server", "https://other")
	want(`there is no context "nowhere"; "carillon get contexts" shows all`, "--context", "nowhere")
	t.Setenv(contextVariable, "test")
	want("https://test t1 test.pem")
	want("https://live t2 ", "--context", "live")
	t.Setenv(serverVariable, "https://live")
	want("https://live t2 ")
	want("https://test t1 test.pem", "--context", "test")
}
