package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeTask writes a program that passes for "good…", and fails for all other stages.
func fakeTask(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "task")
	script := "#!/bin/sh\necho \"$1 ran\"\ncase $1 in good*) exit 0;; quiet) exit 3;; esac\n" +
		"echo 'task: [x] true' >&2\necho 'task: Failed to run task \"'$1'\": task: Failed to run task \"console\": exit status 1' >&2\nexit 201\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAllStagesRunAndThoseThatFailedAreNamed(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // stages write to it at the same time
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	var errOut bytes.Buffer
	err = runAll(t.Context(), fakeTask(t), []string{"good1", "bad", "quiet+good2", "good3"}, out, &errOut)
	if err == nil || err.Error() != "2 of 5 failed" {
		t.Errorf("it ends with %v", err)
	}
	said, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	text := string(said)
	for _, stage := range []string{"good1", "bad", "quiet", "good2", "good3"} {
		if !strings.Contains(text, stage+" ran\n") {
			t.Errorf("%s did not run:\n%s", stage, text)
		}
	}
	_, end, _ := strings.Cut(text, "good3 ran\n")
	lines := strings.Split(strings.TrimSpace(end), "\n")
	if len(lines) != 5 {
		t.Fatalf("it ends with %q", end)
	}
	for i, want := range []string{"good1 passed", `bad FAILED task: Failed to run task "bad": task: Failed to run task "console": exit status 1`, "quiet FAILED exit status 3", "good2 passed", "good3 passed"} {
		stage, says, _ := strings.Cut(want, " ")
		if !strings.Contains(lines[i], " "+stage+" ") || !strings.HasSuffix(strings.Join(strings.Fields(lines[i]), " "), says) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
}

func TestTheListHasTheClosingLinesOfRunnersAndTheStagesBelow(t *testing.T) {
	var all closing
	for line := range strings.Lines("stages: sdk begins\n\x1b[2m      Tests \x1b[22m \x1b[31m2 failed\x1b[39m (2)\n" +
		"====== 332 passed in 55.64s ======\npassed    run  340ms\n65 passed, 0 failed, 7 left out\n" +
		"ok  \texample.org/a\t1.5s\nℹ pass 12\nℹ tests 12\n0 issues.\ngo test: 94 packages passed\n") {
		all.hear(strings.TrimSuffix(line, "\n"))
	}
	want := []string{"go test: 94 packages passed", "Tests 2 failed (2)", "332 passed in 55.64s", "ℹ pass 12", "65 passed, 0 failed, 7 left out", "ok example.org/a 1.5s", "0 issues."}
	if got := all.lines(); !slices.Equal(got, want) {
		t.Errorf("closing lines %q, want %q", got, want)
	}
	if got := all.failing(); len(got) != 0 {
		t.Errorf("tests that failed: %q", got)
	}
	all.hear("    --- FAIL: TestB/one (0.02s)")
	all.hear("--- FAIL: TestB (0.02s)")
	all.hear("\x1b[31m FAIL \x1b[39m  browser  e2e/a.test.ts > it opens")
	all.hear("failed    heartbeat    1s")
	if got, want := all.failing(), []string{"  --- FAIL: TestB/one", "  --- FAIL: TestB", "  FAIL browser e2e/a.test.ts > it opens", "  failed heartbeat"}; !slices.Equal(got, want) {
		t.Errorf("tests that failed: %q, want %q", got, want)
	}
	all.hear("stages: sdk:python  1s  passed")
	all.hear("stages: 1 of 2 failed")
	if len(all.lines()) != 0 || len(all.failing()) != 0 || !slices.Equal(all.below, []string{"sdk:python  1s  passed"}) {
		t.Errorf("stages below: %q and %q", all.below, all.lines())
	}
}

func TestAllStagesThatPassAreNoError(t *testing.T) {
	if err := runAll(t.Context(), fakeTask(t), []string{"good1", "good2+good3"}, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestAnInterruptBeginsNoOtherStage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := runAll(ctx, fakeTask(t), []string{"good1"}, &out, &out); err == nil || strings.Contains(out.String(), "good1 ran") {
		t.Errorf("it ends with %v: %s", err, &out)
	}
}
