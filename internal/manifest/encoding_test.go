package manifest

import (
	"strings"
	"testing"
)

func TestARefusalNamesWhatIsWrong(t *testing.T) {
	f := func(file, text, want string) {
		t.Helper()
		if _, err := Parse(file, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
	f("x.yaml", "job: a/b\ntask: {shell: \"caf\xe9\"}\n", "x.yaml:2: is not UTF-8")
	f("x.json", "{\"job\":\"a/b\",\n\"title\":\"caf\xe9\"}\n", "x.json:2: is not UTF-8")
	f("x.yaml", "job: a/b\ntask:\n\tshell: x\n", "indented with a tab; use spaces")
	f("x.yaml", "job: a/b\nparams: ["+strings.Repeat("\"0123456789\",", 60_000)+"1]\ntask: {shell: x}\n", "x.yaml:2: params makes the document longer")
	f("x.yaml", "job: a/b\nparams: \""+strings.Repeat("x", 900_000)+"\"\ntask: {shell: x}\n", "x.yaml:2: params makes the document longer")
}
