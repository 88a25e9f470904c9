package draw

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/manifest"
)

func TestYAMLReadsBackAsTheJSONItWasMadeOf(t *testing.T) {
	for _, text := range []string{
		"plain", "two words", "", " ", "yes", "No", "null", "~", "1", "1.5", "0x10", "12-25", "09:00", "* * * * *", "&a", "!x", "a: b", "a #b", "#a",
		"-", "- a", "a\nb\n", "a\n  b\nc\n", "a\nb", "\na\nb\n", "a \nb\n", "a\n\n\nb\n", "a\tb\n\tc\n", "a\nb\n\n", "x\r\ny\r\n", "\x00\x1b[0m", "日本", "\u2028", "<a & b>", "'", `"`, `\`, "@daily", "%x", "{", "[", "a,b", "|", ">", "---", "...\nb\nc\n", "---\nb\nc\n",
	} {
		document := map[string]any{"job": "ops/a", "params": map[string]any{
			"text": text, "list": []any{text, []any{text, []any{}}, map[string]any{"a": text, "b": []any{map[string]any{text: text}}}}, "map": map[string]any{text + "x": nil, "e": map[string]any{}}, "n": 1.5, "t": true,
		}}
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := WriteYAML(&b, data); err != nil {
			t.Fatal(err)
		}
		docs, err := manifest.Parse("x.yaml", []byte(b.String()))
		if err != nil || len(docs) != 1 {
			t.Errorf("%q: %v in\n%s", text, err, b.String())
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(docs[0].JSON, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document, got); diff != "" {
			t.Errorf("%q:\n%s%s", text, b.String(), diff)
		}
	}
}

func TestNumbersStayAsTheyWereWrittenInYAML(t *testing.T) {
	for _, number := range []string{
		"0", "-0", "-7", "1.10", "0.0", "0.1000", "1e5", "1E5", "-1e5", "1e-7", "1e+21", "1.5e-7", "-1.5E+3", "1e400",
		"9007199254740993", "1234567890123456789", "9223372036854775807", "-9223372036854775808",
		"18446744073709551615", "18446744073709551616", "-9223372036854775809", "123456789012345678901234567890",
	} {
		document := `{"job":"ops/a","params":[` + number + `]}`
		var b strings.Builder
		if err := WriteYAML(&b, []byte(document)); err != nil {
			t.Fatal(err)
		}
		docs, err := manifest.Parse("x.yaml", []byte(b.String()))
		if err != nil || len(docs) != 1 || string(docs[0].JSON) != document {
			t.Errorf("%s: %v in\n%s", number, err, b.String())
		}
	}
}
