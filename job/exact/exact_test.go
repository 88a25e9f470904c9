package exact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/exact"
)

func TestSameComparesNumbersAsTheyAreWritten(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		if got := exact.Same([]byte(a), []byte(b)); got != want {
			t.Errorf("%s and %s: %v", a, b, got)
		}
	}
	f(`{"a":1234567890123456789,"b":[1]}`, `{"b": [1], "a": 1234567890123456789}`, true)
	f(`1234567890123456789`, `1234567890123456788`, false)
	f(`0.10`, `0.1`, false)
	f(`x`, `x`, false)
}

func TestAFieldThatIsGivenTwiceIsFound(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := exact.Twice([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	f(`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}`, "")
	f(`{"a":1,"a":1}`, "a")
	f(`{"a":{"b":1,"\u0062":2}}`, "a.b")
	f(`{"a":[{},{"b":1,"c":{},"b":2}]}`, "a[1].b")
	f(`{"a":1,`, "")
}

func TestAnUnknownFieldGetsTheNearest(t *testing.T) {
	type inner struct {
		Zone string `json:"zone"`
		Cron string `json:"cron"`
	}
	type document struct {
		Job      string            `json:"job"`
		Schedule *inner            `json:"schedule"`
		List     []inner           `json:"list"`
		Env      map[string]string `json:"env"`
		Params   json.RawMessage   `json:"params"`
	}
	f := func(text, field, nearest string) {
		t.Helper()
		if at, near := exact.Unknown([]byte(text), new(document)); at != field || near != nearest {
			t.Errorf("%s: %q, %q; want %q, %q", text, at, near, field, nearest)
		}
	}
	f(`{"job":"a","schedule":{"zone":"x"},"list":[{"cron":"y"}],"env":{"Job":"x"},"params":{"Job":1}}`, "", "")
	f(`{"shedule":1}`, "shedule", "schedule")
	f(`{"Job":1}`, "Job", "job")
	f(`{"schedule":{"CRON":"x"}}`, "schedule.CRON", "cron")
	f(`{"schedule":{"timezone":"x"}}`, "schedule.timezone", "zone")
	f(`{"list":[{},{"zne":"x"}]}`, "list[1].zne", "zone")
	f(`{"owner":1}`, "owner", "")
}

func TestDeepValuesAreReadInTheTimeThatTheirLengthTakes(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		for _, n := range []int{9_000, 2_000_000} {
			if at := exact.Twice([]byte(strings.Repeat(open, n))); at != "" {
				t.Errorf("%d times %s: %.50s", n, open, at)
			}
		}
	}
	inside := strings.Repeat(`{"a":[`, 4_000) + `{"b":1,"b":2}`
	if at := exact.Twice([]byte(inside)); len(at) > 230 || !strings.HasPrefix(at, "a[0].a[0]") {
		t.Errorf("%.300s", at)
	}
	if _, nearest := exact.Unknown([]byte(`{"`+strings.Repeat("x", 4_000_000)+`":1}`), &struct {
		Schedule string `json:"schedule"`
	}{}); nearest != "" {
		t.Errorf("nearest %s", nearest)
	}
}
