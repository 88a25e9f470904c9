package main

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachTestIsInOnePiece(t *testing.T) {
	names := []string{"TestA", "TestB", "TestC", "ExampleD", "FuzzE"}
	for in := 1; in <= 7; in++ {
		pieces := deal(names, in)
		if len(pieces) != min(in, len(names)) {
			t.Errorf("%d pieces, want %d", len(pieces), in)
		}
		got := slices.Concat(pieces...)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(names))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %d pieces: %s", in, diff)
		}
	}
	if pieces := deal(nil, 2); len(pieces) != 0 {
		t.Errorf("no tests make the pieces %q", pieces)
	}
}

func TestWhatIsSkippedIsInNoPiece(t *testing.T) {
	got, err := testsIn("TestA\nTestChaosB\nExampleC\nBenchmarkD\nFuzzE\nok  \tm/a\t0.1s\n", "^TestChaos")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"TestA", "ExampleC", "FuzzE"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := testsIn("TestA\n", "("); err == nil {
		t.Error("a wrong pattern is taken")
	}
}

func TestAPackageIsNamedByTheEndOfItsPath(t *testing.T) {
	for pkg, want := range map[string]bool{
		"scheduler": true, "./scheduler": true, "example.org/m/scheduler": true,
		"./scheduler/shard": false, "./myscheduler": false, "m/internal/e2e": true, "m/e2e": false,
	} {
		if got := isOf(pkg, []string{"scheduler", "internal/e2e"}); got != want {
			t.Errorf("%s: %v, want %v", pkg, got, want)
		}
	}
}

func TestThePiecesTestWhatTheCommandWould(t *testing.T) {
	command := []string{"go", "test", "-short", "-run", "^TestEach", "-skip", "^TestA"}
	pieces, err := piecesOf(t.Context(), command, ".", 2)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"go", "test", "-short", "-skip", "^TestA", "-run", "^(TestEachTestIsInOnePiece)$", "."}}
	if diff := cmp.Diff(want, pieces); diff != "" {
		t.Error(diff)
	}
}

func TestACommandThatFailsFailsAll(t *testing.T) {
	var out bytes.Buffer
	err := runAll(t.Context(), [][]string{{"sh", "-c", "printf 'FAIL\\tone\\t1s\\nFAIL\\n'; exit 3"}, {"sh", "-c", "printf 'ok  \\ttwo\\t1s\\n'"}}, &out)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("%v, want the failure of the first", err)
	}
	lines := slices.Sorted(strings.Lines(out.String()))
	if diff := cmp.Diff([]string{"FAIL\tone\t1s\n", "FAIL\n", "go test: 1 passed, 1 failed (packages, or pieces of them)\n", "ok  \ttwo\t1s\n"}, lines); diff != "" {
		t.Error(diff)
	}
}
