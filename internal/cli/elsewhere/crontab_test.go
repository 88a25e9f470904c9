//go:build unix

package elsewhere_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/crontab"
)

// examples are lines as people write them. Each prints something.
const examples = `SHELL=/bin/sh
GREETING="hello world"
*/15 * * * * echo rotated
30 2 * * * ./tool verify >/dev/null 2>&1; echo $?
0 4 * * 0 date +\%Y >/dev/null && echo "100\%"
0 4 * * 0 echo "$GREETING"
15 6 * * 1-5 WARN_DAYS=21 ./tool certificates
*/30 * * * * cat%disk: checked by cron%backup: see its log%
0 8 * * 1-5 cat%50\% of it's read%%"end"
@hourly cd / && ls -d tmp | wc -l
@daily echo 'single' "double" "it's"
@daily echo it\'s a\\b 'c\d'
@weekly printf 'a\nb\t%s\n'%not an argument
@daily x=1; while [ $x -le 3 ]; do echo "line $x"; x=$((x+1)); done
@daily (echo one; echo two >&2) 2>&1 | sort -r
@daily echo "$(echo nested "$(echo 'deeper')")"
0 0 1 1 * ./tool a b; exit 3
0 0 1 1 * kill -TERM $$
@reboot echo "#no comment" # a comment
-@daily echo quiet
SHELL=/bin/bash
@daily [[ abc == a* ]] && echo bash; echo ${GREETING:0:5}
@daily echo $'tab\there' | cat -A
@daily no-such-program-of-anybody; echo $?
@daily echo same
@daily echo same
# name: ` + "mine" + `
@daily echo mine $0
@daily echo trailing backslash\
@daily awk 'BEGIN { printf "\%d\%\%\n", 42 }'
`

// run is what cron would run of a line.
type run struct {
	env            []string
	shell, command string
	input          string
}

// runs reads a crontab as cron does: settings, fields of time, and what the percent signs of a command say.
func runs(t *testing.T, text string) (all []run) {
	t.Helper()
	var env []string
	shell := "/bin/sh"
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if name, value, is := strings.Cut(line, "="); is && !strings.ContainsAny(name, " *@") {
			value = strings.Trim(value, `"`)
			env = append(env, name+"="+value)
			if name == "SHELL" {
				shell = value
			}
			continue
		}
		fields := 5
		if strings.HasPrefix(strings.TrimPrefix(line, "-"), "@") {
			fields = 1
		}
		command := strings.SplitN(line, " ", fields+1)[fields]
		r := run{env: append([]string{"SHELL=" + shell}, env...), shell: shell}
		// do_command.c: \% is a percent sign; the first other one ends the command; all after it are ends of lines.
		var b strings.Builder
		escaped, inInput := false, false
		for _, c := range []byte(command) {
			switch {
			case escaped && c == '%':
				b.WriteByte('%')
				escaped = false
				continue
			case escaped:
				b.WriteByte('\\')
				escaped = false
			}
			switch {
			case c == '\\':
				escaped = true
				continue
			case c == '%' && !inInput:
				r.command, inInput = b.String(), true
				b.Reset()
				continue
			case c == '%':
				c = '\n'
			}
			b.WriteByte(c)
		}
		if escaped {
			b.WriteByte('\\')
		}
		if !inInput {
			r.command = b.String()
		} else if r.input = b.String(); !strings.HasSuffix(r.input, "\n") {
			r.input += "\n"
		}
		all = append(all, r)
	}
	return all
}

func TestACrontabDoesTheSameBeforeAndAfter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := newHost(t, s.URL)
	program := filepath.Join(h.dir, "carillon")
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "tool"), []byte("#!/bin/sh\necho tool \"$@\" ${WARN_DAYS}\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	after, lines, err := crontab.Wrap(t.Context(), []byte(examples), crontab.Wrapping{
		Options: crontab.Options{Group: "ops", Zone: "UTC"}, Program: program, Host: "web1", Grace: 10 * time.Minute, File: "examples",
	})
	if err != nil {
		t.Fatal(err)
	}
	before, wrapped := runs(t, examples), runs(t, string(after))
	if len(before) < 20 || len(wrapped) != len(before) || len(lines) != len(before) {
		t.Fatalf("%d lines, then %d, %d wrapped", len(before), len(wrapped), len(lines))
	}
	type result struct {
		code        int
		out, errOut string
	}
	do := func(r run) result {
		var o, e bytes.Buffer
		cmd := exec.CommandContext(t.Context(), r.shell, "-c", r.command)
		cmd.Env, cmd.Dir = slices.Concat(r.env, h.env), h.dir
		for i, v := range cmd.Env {
			if v == "SHELL=/bin/sh" && i > 0 { // of the host
				cmd.Env[i] = "SHELL=" + r.shell
			}
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(r.input), &o, &e
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		code := cmd.ProcessState.ExitCode()
		if code < 0 { // by a signal, as a shell has it
			code = 128 + 15
		}
		return result{code, o.String(), e.String()}
	}
	printed := 0
	for i := range before {
		if lines[i].Outcome != crontab.Wrapped || !strings.Contains(wrapped[i].command, program+" watch ops/") {
			t.Errorf("line %d is %s: %s", lines[i].Number, lines[i].Outcome, lines[i].Note)
		}
		want, got := do(before[i]), do(wrapped[i])
		if got != want {
			t.Errorf("line %d, %q\n%q\n got %+v\nwant %+v", lines[i].Number, before[i].command, wrapped[i].command, got, want)
		}
		printed += len(want.out)
		ends := s.all("end")
		if len(ends) != i+1 || ends[i].path != "/api/v1/jobs/"+string(lines[i].Job.Job)+"/ping" {
			t.Errorf("line %d: ends %+v", lines[i].Number, ends)
		}
	}
	if printed < 200 {
		t.Errorf("the lines print %d bytes", printed)
	}
}
