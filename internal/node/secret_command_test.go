//go:build unix

package node

import (
	"strings"
	"testing"
)

func TestACommandPrintsSecrets(t *testing.T) {
	want := func(line, value, problem string) {
		t.Helper()
		got, err := secretCommand(line)(t.Context(), "db-password")
		if got != value || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q printed %q, %v; want %q, %q", line, got, err, value, problem)
		}
	}
	want(`echo "pa55 of $CARILLON_SECRET_NAME"`, "pa55 of db-password", "")
	want(`printf 'two\nlines\n\n'`, "two\nlines\n", "")
	want(`echo pa55; echo "no such path" >&2; exit 2`, "", `the command for secret "db-password" failed: exit status 2: no such path`)
	want(`true`, "", "printed nothing")
	want(`head -c 70000 /dev/zero`, "", "printed more than 65536 bytes")
}
