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

func TestTheTokenOfOneServerIsNotSentToThatOfAContext(t *testing.T) {
	t.Setenv("CARILLON_CONFIG", filepath.Join(t.TempDir(), "contexts.json"))
	t.Setenv("CARILLON_SERVER", "https://staging.example.org")
	t.Setenv("CARILLON_TOKEN", "of staging")
	c := &Contexts{}
	c.Put(SignedIn{Name: "production", Server: "https://production.example.org", Token: "of production", CA: "ca.pem"})
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	r := &Remote{}
	there, err := r.In("production")
	if err != nil {
		t.Fatal(err)
	}
	if server, token, ca, err := there.where(); server != "https://production.example.org" || token != "of production" || ca != "ca.pem" || err != nil {
		t.Errorf("a request goes to %s with token %q and CA %q: %v", server, token, ca, err)
	}
	if server, token, _, err := r.where(); server != "https://staging.example.org" || token != "of staging" || err != nil {
		t.Errorf("other requests go to %s with token %q: %v", server, token, err)
	}
}
