package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretsAreSetUsedAndDeleted(t *testing.T) {
	s := newTerminal(t)
	s.want("no secrets\n", "", "get", "secrets", "-g", "default")
	s.want("secret default/db is set\n", "pa55word\n", "secret", "set", "db", "-g", "default", "--description", "of the ledger")
	_, out, _ := s.run("", "get", "secrets", "-g", "default")
	if !strings.Contains(out, "of the ledger") || strings.Contains(out, "pa55word") {
		t.Errorf("the list is\n%s", out)
	}
	s.want("created  job  default/login\n1 created\n", "job: default/login\ntask:\n  shell: echo \"$PW ${#PW}\"\n  secrets: {PW: db}\n", "apply", "-f", "-")
	code, out, errOut := s.run("", "run", "default/login", "--follow")
	if code != 0 || !strings.HasPrefix(out, "*** 8\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errOut)
	}
	s.want("secret default/db deleted\n", "", "secret", "delete", "db", "-g", "default")
	s.wantError(exitNotFound, "carillon: not found: secret db of group default\n", "", "secret", "delete", "db", "-g", "default")
	s.wantError(exitUsage, "carillon: secret \"a b\" must name a secret", "x", "secret", "set", "a b", "-g", "default")
}

func TestAGroupsKeyFollowsFromTheMasterKey(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		var out, errOut strings.Builder
		if code := execute(t.Context(), newRoot(newSecretCommand()), args, strings.NewReader(""), &out, &errOut); code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut.String())
		}
		return out.String()
	}
	file := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(file, []byte(run("secret", "keygen")), 0o600); err != nil {
		t.Fatal(err)
	}
	key := run("secret", "key", "-g", "billing", "--master-key", file)
	if !strings.HasPrefix(key, "carillon-group-1.billing.") || key != run("secret", "key", "-g", "billing", "--master-key", file) {
		t.Errorf("the key is %q", key)
	}
}

func TestAnEarlierVersionIsComparedAndRestored(t *testing.T) {
	s := newTerminal(t)
	save := func(source string) {
		t.Helper()
		code, _, errOut := s.run("job: default/report\ntask: {script: {language: shell, source: "+source+"}}\n", "apply", "-f", "-")
		if code != 0 {
			t.Fatal(errOut)
		}
	}
	save("echo one")
	save("echo two")
	change := "changed  job  default/report\n    ~ task.script.source: \"echo two\" -> \"echo one\"\n1 changed"
	s.want(change+" (dry run: nothing was saved)\n", "", "rollback", "default/report", "--version", "1", "--dry-run")
	s.want(change+"\n", "", "rollback", "default/report", "--version", "1")
	_, out, _ := s.run("", "get", "versions", "default/report")
	lines := strings.Split(out, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[1], "3 ") || !strings.Contains(lines[1], "script: shell echo one") || !strings.Contains(lines[1], "rolled back to version 1") {
		t.Errorf("the versions are\n%s", out)
	}
	s.want("default/report deleted\n", "", "delete", "default/report")
	s.want("created  job  default/report\n1 created\n", "", "rollback", "default/report", "--version", "2")
	code, out, _ := s.run("", "run", "default/report", "--follow")
	if code != 0 || !strings.HasPrefix(out, "two\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.wantError(exitNotFound, "carillon: not found: version 9 of job default/report", "", "rollback", "default/report", "--version", "9")
	s.wantError(exitNotFound, "carillon: not found", "", "rollback", "default/report", "--version", "4") // the deletion
}
