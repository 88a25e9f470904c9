package all_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
)

// TestPingsOfTheWrapperReachAServer sends what a wrapper sends, in both ways, to a server of ours.
func TestPingsOfTheWrapperReachAServer(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run("job: ops/x\ntask: {watch: 30m}\n", "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	var token struct{ Token string }
	if code, out, errOut := s.Run("", "watch", "token", "ops/x", "-o", "json"); code != 0 || json.Unmarshal([]byte(out), &token) != nil || token.Token == "" {
		t.Fatalf("exit code %d: %s%s", code, out, errOut)
	}
	send := func(token, run string, exit int) {
		t.Helper()
		server, err := ping.NewServer(s.Server, token, "")
		if err != nil {
			t.Fatal(err)
		}
		start, end := ping.New("ops/x", ping.Start, run), ping.New("ops/x", ping.End, run)
		end.Exit, end.Took, end.Output = &exit, 1500*time.Millisecond, []byte("hello\n\xff\n"+strings.Repeat("<&>\n", 15_000))
		if err := errors.Join(server.Send(t.Context(), start, 2*time.Second), server.Send(t.Context(), end, 500*time.Millisecond)); err != nil {
			t.Error(err)
		}
	}
	send("", "by-api", 3)
	send(token.Token, "by-token", 0)
	awaitAnswer(t, s, []string{"failed", "exit code 3", "succeeded", "1.5s"}, "get", "runs", "--job", "ops/x", "-o", "wide")

	server, err := ping.NewServer(s.Server, token.Token+"x", "")
	if err != nil {
		t.Fatal(err)
	}
	err = server.Send(t.Context(), ping.New("ops/x", ping.Start, "k"), 0)
	if no, is := errors.AsType[*ping.RefusedError](err); !is || no.Status != http.StatusNotFound {
		t.Errorf("a wrong token: %v", err)
	}
}
