package node

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
)

// checked runs the command with --check, and returns what it printed, and its error.
func checked(t *testing.T, address string, args ...string) (string, error) {
	t.Helper()
	cmd := newXXLJobCommand()
	cmd.SetArgs(append([]string{"--check", address}, args...))
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// serving returns the address of a server that ends with the test.
func serving(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// tokenFile returns a file of access tokens.
func tokenFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestACheckTellsWhetherAnExecutorWouldAttach(t *testing.T) {
	standIn := func(dialect, token string) string {
		return serving(t, xxlstandin.New(xxlstandin.Config{AppName: "billingApp", Dialect: dialect, Token: token}, nil))
	}
	const mine, private = "the-token", "--allow-private-addresses"
	tokens := []string{"--groups", "billingApp", "--access-token-file", tokenFile(t, "billingApp "+mine), private}
	var lc net.ListenConfig
	closed, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	a := standIn(xxlstandin.A, mine)
	const registered = "http://172.17.0.2:9999"
	for name, c := range map[string]struct {
		address string
		args    []string
		says    []string // what it prints, or its error
		not     string
		wrong   bool
	}{
		"dialect A":       {address: a + "/", args: tokens, says: []string{"address   " + a + "\n", "dialect   A (XXL-JOB 2.2-3.2)", "instance  127-0-0-1-", "It would attach."}},
		"dialect B":       {address: standIn(xxlstandin.B, mine), args: tokens, says: []string{"dialect   B (XXL-JOB 3.3-3.4)", "It would attach."}},
		"dialect C":       {address: standIn(xxlstandin.C, mine), args: tokens, says: []string{"dialect   C (XXL-JOB 3.5+)", "It would attach."}},
		"no token":        {address: standIn(xxlstandin.B, ""), args: []string{private}, says: []string{"dialect   B", "It would attach."}, not: "make sure"},
		"rewritten":       {address: registered, args: append([]string{"--rewrite", registered + "/=" + a}, tokens...), says: []string{"address   " + a + "\n", "It would attach."}},
		"half a rewrite":  {address: a, args: append([]string{"--rewrite", registered}, tokens...), wrong: true, says: []string{"rewrite ", "must be FROM=TO"}},
		"wrong token":     {address: standIn(xxlstandin.B, "another"), args: tokens, wrong: true, says: []string{"would not attach", `"The access token is wrong."`, "give its xxl.job.accessToken with --access-token-file, and its AppName with --groups"}},
		"wrong AppName":   {address: standIn(xxlstandin.C, mine), args: []string{"--access-token-file", tokenFile(t, mine), private}, wrong: true, says: []string{"accessToken or appname is empty", "its AppName with --groups"}},
		"nothing there":   {address: "http://" + closed.Addr().String(), args: tokens, wrong: true, says: []string{"nothing answers at http://" + closed.Addr().String(), "connection refused", "can this machine reach it?"}},
		"HTML":            {address: serving(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") })), args: tokens, says: []string{"dialect   not known", "make sure that an executor listens there"}},
		"no path":         {address: serving(t, http.NotFoundHandler()), args: tokens, says: []string{"dialect   not known", "make sure that an executor listens there"}},
		"no address":      {address: "10.0.0.5", args: tokens, wrong: true, says: []string{"must be an address such as http://10.0.0.5:9999"}},
		"private address": {address: a, wrong: true, says: []string{"127.0.0.1 is a private address", "--executor-allow 127.0.0.1 or --allow-private-addresses"}},
		"link-local":      {address: "http://169.254.169.254", args: tokens, wrong: true, says: []string{"169.254.169.254 is a private address", "--executor-allow 169.254.169.254 if"}, not: private},
		"allowed":         {address: a, args: []string{"--groups", "billingApp", "--access-token-file", tokenFile(t, mine), "--executor-allow", "127.0.0.0/8"}, says: []string{"It would attach."}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := checked(t, c.address, c.args...)
			if (err != nil) != c.wrong {
				t.Fatalf("it prints %q, and its error is %v", out, err)
			}
			if err != nil {
				out += err.Error()
			}
			for _, part := range c.says {
				if !strings.Contains(out, part) {
					t.Errorf("it says %q, want %q in it", out, part)
				}
			}
			if c.not != "" && strings.Contains(out, c.not) {
				t.Errorf("it says %q, with %q in it", out, c.not)
			}
		})
	}
}
