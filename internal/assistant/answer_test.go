package assistant

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAnAnswerIsShort(t *testing.T) {
	type row struct{ Text string }
	long := make([]row, 200)
	for i := range long {
		long[i].Text = strings.Repeat("é", 600)
	}
	many := map[string][]row{}
	for _, name := range []string{"a", "b", "c", "d"} {
		many[name] = long
	}
	for name, c := range map[string]struct {
		found any
		cut   bool
		rows  int
	}{
		"nothing to cut":    {long[:0], false, 0},
		"a short list":      {[]row{{"x"}, {"y"}}, false, 2},
		"a long list":       {long, true, maxList},
		"several long ones": {many, true, 25},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := answer(c.found)
			if err != nil {
				t.Fatal(err)
			}
			found := r.StructuredContent.(map[string]any) //nolint:forcetypeassert // a test
			rows, ok := found["untrusted"].([]any)
			if !ok {
				rows = found["untrusted"].(map[string]any)["a"].([]any) //nolint:forcetypeassert // a test
			}
			if found["cut"] != c.cut || len(rows) != c.rows {
				t.Errorf("cut is %v, with %d rows; want %v, with %d", found["cut"], len(rows), c.cut, c.rows)
			}
			text := r.Content[0].(*mcp.TextContent).Text //nolint:forcetypeassert // a test
			if len(text) > maxAnswer+500 || strings.Contains(text, "Some lists") != c.cut {
				t.Errorf("the text has %d bytes: %.200s", len(text), text)
			}
		})
	}
	wide := map[string]row{}
	for i := range 1000 {
		wide[strings.Repeat("k", i)] = long[0]
	}
	if _, err := answer(wide); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("of what cannot be cut the error is %v", err)
	}
}

func TestWhatAReaderDoesNotSeeIsRemoved(t *testing.T) {
	for given, want := range map[string]string{
		"plain\ttext\n":         "plain\ttext\n",
		"\x1b[31mred\x1b[0m":    "[31mred[0m",
		"a\u202eb\u2066c":       "abc",
		"t\U000e0041g\u200b.":   "tg.",
		"bell\a, nul\x00, \r\n": "bell, nul, \n",
		"报表 😀":                  "报表 😀",
		"bad \xff utf":          "bad \ufffd utf",
	} {
		if got := new(cutter).text(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
