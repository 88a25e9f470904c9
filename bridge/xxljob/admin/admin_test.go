package admin_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/admin"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

const secret = "token-of-the-tests"

// served is a handler on a bus, which no bridge serves.
type served struct {
	*testing.T
	handler http.Handler
	broker  *bustest.Broker
}

func serve(t *testing.T, tokens string, f func(s *served)) {
	t.Helper()
	bustest.Run(t, time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "test", 1)
		read, err := admin.ReadTokens(tokens, false)
		check(t, err)
		b, err := xxljob.New(conn.Conn, xxljob.Config{Token: read.Of, Dial: (&net.Dialer{}).DialContext, Groups: []string{"billing-app", "payroll"}})
		check(t, err)
		refuse := func(address string) error {
			if strings.Contains(address, "169.254") {
				return errors.New("169.254.169.254 is a private address, which is not called")
			}
			return nil
		}
		f(&served{t, admin.New(b, admin.Config{Tokens: read, Refuse: refuse, Logger: slog.New(slog.DiscardHandler)}), broker})
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a request, and returns the code and the message of the answer.
func (s *served) ask(method, path, token, body string, headers ...string) (status, code int, msg string) {
	s.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
	for k := 0; k+1 < len(headers); k += 2 {
		r.Header.Set(headers[k], headers[k+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	var a struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	if err := json.NewDecoder(w.Body).Decode(&a); err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return w.Code, a.Code, a.Msg
}

// refused wants a request to be refused with a message.
func (s *served) refused(path, token, body, want string, headers ...string) {
	s.Helper()
	if status, code, msg := s.ask(http.MethodPost, path, token, body, headers...); status != http.StatusOK || code != 500 || !strings.Contains(msg, want) {
		s.Errorf("%s with %.80s: status %d, code %d: %q; want %q", path, body, status, code, msg, want)
	}
}

func (s *served) accepted(path, token, body string, headers ...string) {
	s.Helper()
	if status, code, msg := s.ask(http.MethodPost, path, token, body, headers...); status != http.StatusOK || code != 200 {
		s.Errorf("%s with %.80s: status %d, code %d: %q", path, body, status, code, msg)
	}
}

func registration(app, address string) string {
	data, _ := json.Marshal(map[string]string{"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address})
	return string(data)
}

func TestExecutorsRegisterOnEitherPath(t *testing.T) {
	serve(t, secret, func(s *served) {
		s.accepted("/api/registry", secret, registration("billingApp", "http://10.0.0.5:9999/"))
		s.accepted("/xxl-job-admin/api/registry", secret, registration("billingApp", "http://10.0.0.6:9999/"))
		for _, path := range []string{"/xxl-job-admin//api/registry", "//api/registry", "/job-admin/api/registry", "/a/b//api//registry/"} { // as servlet containers take them
			s.accepted(path, secret, registration("billingApp", "http://10.0.0.6:9999/"))
		}
		if status, _, msg := s.ask(http.MethodPost, "/xxl-job-admin/jobinfo/trigger", secret, ""); status != http.StatusNotFound || !strings.Contains(msg, "manage jobs by Carillon's API") {
			s.Errorf("a page of the old admin: status %d: %s", status, msg)
		}
		s.accepted("/api/registryRemove", secret, registration("billingApp", "http://10.0.0.5:9999/"))
		s.accepted("/api/callback", secret, `[]`)
		s.accepted("/api/callback", secret, `{"callbackList":[{"logId":4711,"handleCode":200}]}`) // which nobody knows
	})
}

func TestWhatIsNoRequestOfAnExecutorIsRefusedWithAReason(t *testing.T) {
	serve(t, secret, func(s *served) {
		good := registration("billingApp", "http://10.0.0.5:9999/")
		for _, body := range []string{"", "{", "<xml/>", "[]", `"x"`, `{"registryGroup":1}`} {
			s.refused("/api/registry", secret, body, "registry")
		}
		for _, body := range []string{"", "{", "<xml/>", `"x"`, `[{"logId":"x"}]`} {
			s.refused("/api/callback", secret, body, "body")
		}
		s.refused("/api/callback", secret, `[{}]`, "callback 1 of 1 cannot be read: logId is missing")
		s.refused("/api/registry", secret, strings.Replace(good, "EXECUTOR", "ADMIN", 1), "must be EXECUTOR")
		s.refused("/api/registry", secret, registration("", "http://10.0.0.5:9999/"), "registryKey")
		s.refused("/api/registry", secret, registration("财务", "http://10.0.0.5:9999/"), "no letters or digits")
		s.refused("/api/registry", secret, registration("other", "http://10.0.0.5:9999/"), "which this bridge does not serve")
		s.refused("/api/registry", secret, registration("billingApp", "10.0.0.5:9999"), "must be an address such as http://10.0.0.5:9999")
		s.refused("/api/registry", secret, registration("billingApp", "http://169.254.169.254/latest"), "is not called")
		s.refused("/api/registry", secret, good+strings.Repeat(" ", 20<<10), "at most 16384 bytes")
		s.refused("/api/nothing", secret, good, "uri-mapping(nothing) not found")
		if _, code, msg := s.ask(http.MethodGet, "/api/registry", secret, ""); code != 500 || !strings.Contains(msg, "HttpMethod not support") {
			s.Errorf("GET: %d %q", code, msg)
		}
		if status, _, _ := s.ask(http.MethodPost, "/jobinfo", secret, ""); status != http.StatusNotFound {
			s.Errorf("a path of the admin's console: status %d", status)
		}
	})
}

func TestATokenIsGoodForItsGroupOnly(t *testing.T) {
	serve(t, "# two groups\nbillingApp one-token\npayroll another-token\n", func(s *served) {
		good := registration("billingApp", "http://10.0.0.5:9999/")
		s.accepted("/api/registry", "one-token", good)
		s.accepted("/api/registry", "one-token", good, "XXL-JOB-APPNAME", "billingApp")
		s.refused("/api/registry", "another-token", good, "the access token of another executor group")
		s.refused("/api/registry", "one-token", good, "is not the registryKey", "XXL-JOB-APPNAME", "payroll")
		for _, wrong := range []string{"", "one-toke", "one-token ", "default_token"} {
			s.refused("/api/registry", wrong, good, "The access token is wrong.")
			s.refused("/api/callback", wrong, "[]", "The access token is wrong.")
		}
	})
}

func TestWhoAsksTooOftenWaits(t *testing.T) {
	serve(t, secret, func(s *served) {
		good := registration("billingApp", "http://10.0.0.5:9999/")
		count := map[int]int{}
		for range 10_000 {
			status, _, _ := s.ask(http.MethodPost, "/api/registry", secret, good)
			count[status]++
		}
		if count[http.StatusOK] > 500 || count[http.StatusTooManyRequests] < 9500 {
			s.Errorf("10,000 requests at once: %v", count)
		}
		s.accepted("/api/callback", secret, "[]") // which has a limit of its own
		time.Sleep(time.Second)
		s.accepted("/api/registry", secret, good)
		for range 100 {
			s.ask(http.MethodPost, "/api/registry", "wrong", good)
		}
		if status, _, _ := s.ask(http.MethodPost, "/api/registry", "wrong", good); status != http.StatusTooManyRequests {
			s.Errorf("the hundredth wrong token: status %d", status)
		}
		s.accepted("/api/registry", secret, good) // others behind the address are not locked out
	})
}

func TestNothingIsTakenWhileItCannotBeStored(t *testing.T) {
	serve(t, secret, func(s *served) {
		s.broker.Stop()
		s.refused("/api/registry", secret, registration("billingApp", "http://10.0.0.5:9999/"), "")
		id := strconv.FormatInt(state.FirstLogID("billing-app")+4711, 10)
		s.refused("/api/callback", secret, `[{"logId":`+id+`,"handleCode":200}]`, "run "+id)
	})
}

func TestTokensAreReadLineByLine(t *testing.T) {
	wrong := func(text, want string) {
		t.Helper()
		if _, err := admin.ReadTokens(text, false); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	wrong("", "has no token")
	wrong("# nothing\n\n", "has no token")
	wrong("default_token", "which everybody knows")
	wrong("app default_token", "line 1")
	wrong("a b c", "must be TOKEN, or APPNAME TOKEN")
	wrong("x\ny", "line 2: is the second token of all groups")
	wrong("app x\napp y", "line 2: is the second token of group app")
	if tokens, err := admin.ReadTokens("default_token", true); err != nil || !tokens.Admits("any", "default_token") {
		t.Errorf("allowed by name: %v", err)
	}
	tokens, err := admin.ReadTokens("all\nmyApp mine\n", false)
	if err != nil {
		t.Fatal(err)
	}
	if tokens.Admits("my-app", "all") || !tokens.Admits("my-app", "mine") || !tokens.Admits("other", "all") || tokens.Admits("other", "mine") {
		t.Error("a group with a token of its own has another one, too")
	}
}
