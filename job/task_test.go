package job

import (
	"strings"
	"testing"
)

func TestATaskThatCannotBeDoneIsRefusedByField(t *testing.T) {
	f := func(task string, want ...string) {
		t.Helper()
		_, err := Decode([]byte(`{"job": "a/b", "task": ` + task + `}`))
		var got []string
		for _, p := range Problems(err) {
			got = append(got, p.Error())
		}
		if len(got) != len(want) {
			t.Errorf("%s\n got %q\nwant %q", task, got, want)
			return
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s\n got %q\nwant %q", task, got[i], want[i])
			}
		}
	}
	one := "task must have exactly one of handler, shell, command, http, script and watch"
	f(`{}`, one)
	f(`{"shell": "x", "script": {"language": "shell", "source": "x"}}`, one)

	f(`{"handler": "` + strings.Repeat("h", 255) + `"}`)
	f(`{"handler": "`+strings.Repeat("h", 256)+`"}`, "task.handler is longer than 255 characters")
	f(`{"http": {"url": "https://example.com:${params.port}/${CARILLON_RUN_ID}"}}`)
	f(`{"http": {"url": ""}}`, `task.http.url "" must be an address`)
	f(`{"http": {"url": "ftp://example.com"}}`, `task.http.url "ftp://example.com" must be an address`)
	f(`{"http": {"url": "http:///path"}}`, `task.http.url`)
	f(`{"http": {"url": "http://ann:secret@example.com"}}`, `task.http.url "http://ann:secret@example.com" has a user; use auth`)
	f(`{"http": {"url": "http://x", "method": "get"}}`, `task.http.method "get" must be one of GET, HEAD,`)
	f(`{"http": {"url": "http://x", "body": "b"}}`, `task.http.body is set, but GET has none`)
	f(`{"http": {"url": "http://x", "headers": {"a b": "c", "d": "e\nf"}}}`, `task.http.headers["a b"] must be`, `task.http.headers["d"] must be`)
	f(`{"http": {"url": "http://x", "success": ["200", "2xx", "200-299", "20", "6xx", "299-200"]}}`,
		`task.http.success[3]`, `task.http.success[4]`, `task.http.success[5]`)
	f(`{"http": {"url": "http://x", "auth": {"bearer": "b", "user": "u"}}}`, "task.http.auth must have either")
	f(`{"http": {"url": "http://x", "auth": {"bearer": "${TOKEN"}}}`, "task.http.auth.bearer has ${ without }")
	f(`{"http": {"url": "http://x", "auth": {"bearer": "${TOKEN}"}}}`, "task.http.auth.bearer names ${TOKEN}, which is neither in env nor in secrets")
	f(`{"http": {"url": "http://x", "auth": {"bearer": "${TOKEN}"}}, "secrets": {"TOKEN": "api-token"}}`)
	f(`{"http": {"url": "http://x"}, "dir": "/"}`, "task has dir or stdin")
	f(`{"http": {"url": "http://x", "verb": "GET"}}`, "task.http.verb is not a known field")

	f(`{"script": {"language": "python", "source": "print(1)"}}`)
	f(`{"script": {"language": "cobol", "source": "x"}}`, `task.script.language "cobol" must be one of shell, python, node, php, powershell, starlark`)
	f(`{"script": {"language": "shell"}}`, "task.script must have either source or digest")
	f(`{"script": {"language": "shell", "digest": "abc"}}`, `task.script.digest "abc" must be a SHA-256`)
	f(`{"script": {"language": "shell", "source": "`+strings.Repeat("x", MaxScript+1)+`"}}`, "task.script.source has 131073 bytes")

	f(`{"shell": "x", "env": {"A": "b"}, "secrets": {"A": "s", "CARILLON_B": "s", "C": "a b", "D=": "s"}}`,
		"task.secrets.A is in env too", `task.secrets.C "a b" must name a secret`, "task.secrets.CARILLON_B must not begin with CARILLON_", `task.secrets "D=" must be the name of a variable`)
}

func TestVariablesAreFilledIn(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got, err := Expand(text, func(name string) (string, error) { return "<" + name + ">", nil })
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	f("", "")
	f("a$b$", "a$b$")
	f("${A}", "<A>")
	f("x${A}${B.c}y", "x<A><B.c>y")
	f("$${A} ${B}", "${A} <B>")
	f("$$${A}", "$${A}")
	f("${A${B}", "<A${B>")
	if _, err := Expand("a${b", nil); err == nil {
		t.Error("a ${ without an end is accepted")
	}
}

func TestATriggerNamesAScriptByItsDigest(t *testing.T) {
	task := Task{Script: &Script{Language: "shell", Source: "echo"}}
	got := task.ByDigest()
	if *got.Script != (Script{Language: "shell", Digest: "092c79e8f80e559e404bcf660c48f3522b67aba9ff1484b0367e1a4ddef7431d"}) {
		t.Errorf("%+v", got.Script)
	}
	if task.Script.Source != "echo" {
		t.Error("the job itself has changed")
	}
}
