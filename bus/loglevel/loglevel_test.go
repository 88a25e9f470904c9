package loglevel

import "testing"

func TestALineOfAProgramTellsItsLevel(t *testing.T) {
	is := func(want string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if got, _ := Of(text); got != want {
				t.Errorf("%q is of level %q; want %q", text, got, want)
			}
		}
	}
	is(failure,
		"ERROR bank gateway: connection refused", "ERROR: no such file", "[ERROR] Failed to execute goal", "[error] 12#0: upstream timed out", "Error: Cannot find module",
		"error: pathspec 'x' did not match", "fatal: not a git repository", "2026-01-05 03:00:00,123 ERROR [main] a.B - gone", "2026-01-05T03:00:00Z [http nio 1] ERROR a.B",
		"12:00:01.123 | ERROR | it", "CRITICAL:root:it", "SEVERE: it", "\x1b[31mERROR\x1b[0m it", "  ERR it", "PANIC: it",
		`{"level":"error","msg":"x"}`, `{"time":"t", "level": "ERROR"}`, `{"severity":"CRITICAL"}`, `{"level":50,"msg":"x"}`, `{"levelname": "fatal"}`,
		`time=2026-01-05T03:00:00Z level=ERROR msg=x`, `ts=1 lvl=error`, `level="error"`)
	is(warning, "WARN it", "WARNING: it", "warning: unused variable", "2026-01-05 03:00:00 WARN it", `{"level":"warning"}`, `{"level":40}`, "level=warn msg=x")
	is(info, "INFO:root:it began", "2026/01/05 03:00:00 INFO it", `{"level":"info","msg":"an error"}`, `{"level":30}`, "level=info err=none", "[INFO] BUILD SUCCESS")
	is(debug, "DEBUG it", "TRACE it", `{"level":"debug"}`, `{"level":10}`)
	is("", "", " ", "it ended with an ERROR", "Errors: 0", "ERRORS 3", "error handling is done", "no error", "the level=error", "ERROR_CODE=5", "Information: x", "3 errors",
		"{", `{"msg":"level"}`, `{"level":null}`, `{"level":5}`, "ValueError: x", "[", "Info about it", "\x1b[", "level=", "12 tables to go")
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		Of("2026-01-05 03:00:00,123 [main] it has done 1200 of 3000 rows, at 30 rows a second")
		Of("step done")
	}
}
