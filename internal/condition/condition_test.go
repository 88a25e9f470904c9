package condition_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/condition"
)

// values are what the expressions of testdata see.
var values = condition.Values{
	Params: json.RawMessage(`{"region":"eu","limit":10,"id":9007199254740993,"big":18446744073709551616,"ratio":0.5,"on":true,"none":null,"list":["a","b",3],"deep":{"a":{"b":[1,2]}},"empty":{}}`),
	Results: map[string]json.RawMessage{
		"check": json.RawMessage(`{"rows":3,"path":"/in/a.csv","ok":true,"parts":[{"n":1},{"n":2}]}`),
		"count": json.RawMessage(`7`),
		"none":  nil,
	},
	Status: map[string]string{"check": "succeeded", "load": "failed", "none": "skipped"},
}

func answer(text string) string {
	c, err := condition.Parse(text)
	if err != nil {
		return "refused: " + err.Error()
	}
	holds, err := c.Holds(values)
	if err != nil {
		return "error: " + err.Error()
	}
	return strconv.FormatBool(holds)
}

// TestExpressionsMeanWhatTheyMeant guards what is written in documents against an upgrade of the library.
// UPDATE=1 replaces the recorded answers.
func TestExpressionsMeanWhatTheyMeant(t *testing.T) {
	const file = "testdata/expressions.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(string(data))); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
			continue
		}
		n++
		text, want, _ := strings.Cut(line, "  =>  ")
		got := answer(text)
		b.WriteString(text + "  =>  " + got + "\n")
		if got != want && os.Getenv("UPDATE") == "" {
			t.Errorf("%s  =>  %s, want %s", text, got, want)
		}
	}
	if n < 200 {
		t.Errorf("there are %d expressions, want 200 at least", n)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheStepsOfAnExpressionAreKnown(t *testing.T) {
	c, err := condition.Parse(`results.b.rows > 0 && status["a"] == "failed" || results.?c.x.orValue(1) == 1 && results["b"] != null`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Results(), " ") + "; " + strings.Join(c.Steps(), " "); got != "b c; a b c" {
		t.Errorf("the steps are %s", got)
	}
}

func TestTheWordsComparedWithAStatusAreKnown(t *testing.T) {
	for text, want := range map[string]string{
		`status.a == "succeed"`:                                         "13 succeed",
		`"x" != status["a"] && params.y == "z"`:                         "1 x",
		`status.a in ["failed", params.x, "lots"] || true`:              "14 failed, 34 lots",
		`"x" in [status.a] || results.a == "x"`:                         "",
		`status.?a.orValue("none") == "none"`:                           "",
		`status.?a.orValue("none") in ["none", "lost"]`:                 "39 lost",
		`status.a == ""`:                                                "13 ",
		`status.a == status.b`:                                          "",
		`params.status == "x" && !(status.a != "ü" && status.b == "y")`: "39 ü, 58 y",
	} {
		c, err := condition.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, w := range c.Words() {
			got = append(got, strconv.Itoa(w.Column)+" "+w.Text)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s is compared with %q, want %q", text, got, want)
		}
	}
}

func TestALongExpressionIsRefused(t *testing.T) {
	if _, err := condition.Parse(strings.Repeat("true && ", 200) + "true"); err == nil || err.Error() != "has 1604 bytes; at most 1024 are allowed" {
		t.Errorf("it is read: %v", err)
	}
	deep := strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300)
	if c, err := condition.Parse(deep); err == nil {
		if holds, err := c.Holds(values); !holds || err != nil {
			t.Errorf("300 parentheses are %t, %v", holds, err)
		}
	}
}

// TestNoValueIsInAnError holds since who may see that a step failed may not see its parameters.
func TestNoValueIsInAnError(t *testing.T) {
	secret := condition.Values{Params: json.RawMessage(`{"a":"hunter2","b":{"hunter2":1},"n":31337}`)}
	for _, text := range []string{
		"params.a > 1", "params.a.b == 1", "params.a", "params.b.c == 1", "params[params.a] == 1", "params.b[params.a] > 'x'",
		"int(params.a) == 1", "params.n / 0 == 1", "params.a + 1 == 2", "timestamp(params.a) > timestamp(0)", "duration(params.a) > duration('1s')",
		"double(params.a) > 1.0", "bool(params.a)", "'x'.matches(params.a + '(')", "params.n * 9223372036854775807 > 0", "[1][params.n] == 1",
	} {
		c, err := condition.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if holds, err := c.Holds(secret); err == nil {
			t.Errorf("%s is %t", text, holds)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "31337") {
			t.Errorf("%s: the error has a value: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`results.check.rows > 0 && status.load in ["failed"]`)
	f.Add(`params.list[0] == "a" ? true : params.?x.orValue(false)`)
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := condition.Parse(text); err == nil {
			_, _ = c.Holds(values)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := condition.Parse(`results.check.rows > 0 && params.region == "eu"`); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	c, err := condition.Parse(`results.check.rows > 0 && params.region == "eu"`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if holds, err := c.Holds(values); !holds || err != nil {
			b.Fatal(holds, err)
		}
	}
}
