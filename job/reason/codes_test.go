package reason_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/reason"
	_ "github.com/carillon-scheduler/carillon/job/reason/finding" // a part of the table
	_ "github.com/carillon-scheduler/carillon/job/reason/refusal" // another one
)

var update = flag.Bool("update", false, "write the lists of codes anew")

func TestTheConsoleAndTheDocsHaveTheTable(t *testing.T) {
	for file, want := range map[string]string{
		"../../frontend/src/i18n/en/reasons.gen.ts":        console("reasons", "Reason", "reasons", plain),
		"../../frontend/src/i18n/en/findings.gen.ts":       console("findings", "Finding", "findings of the ledger", found),
		"../../frontend/src/i18n/en/refusals.gen.ts":       console("refusals", "Refusal", "refusals and of imports", refused),
		"../../frontend/src/i18n/en/local-refusals.gen.ts": localSentences("localRefusals", "refusals", refused),
		"../../frontend/src/i18n/en/local-reasons.gen.ts":  localSentences("localReasons", "reasons", plain),
		"../../frontend/src/i18n/en/local-findings.gen.ts": localSentences("localFindings", "findings of the ledger", found),
		"../../docs/reference/reasons.md":                  page(),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is not what the table says (%v); run go generate ./job/reason", file, err)
		}
	}
}

// The parts of the table for the console. A first visit loads the plain ones alone.
func plain(s *reason.Sentence) bool   { return !s.Refusal && !s.Finding }
func found(s *reason.Sentence) bool   { return s.Finding }
func refused(s *reason.Sentence) bool { return s.Refusal }

// console returns a part of the table for the console, whose other languages are typed by its codes.
func console(name, kind, of string, in func(*reason.Sentence) bool) string {
	var b strings.Builder
	b.WriteString("// The table of package job/reason, as it writes it. Do not edit.\n\n")
	fmt.Fprintf(&b, "/** The English sentences of %s by their codes, with the parameters in braces. */\nexport const %s = {\n", of, name)
	for _, s := range reason.Sentences() {
		if in(s) {
			fmt.Fprintf(&b, "  %s: %s,\n", s.Code, strconv.Quote(s.Template))
		}
	}
	fmt.Fprintf(&b, "};\n\nexport type %sCode = keyof typeof %s;\n", kind, name)
	return b.String()
}

// localised matches what the console writes in another way than the server, in English, too: numbers, instants,
// durations, states, and the ids of runs.
var localised = regexp.MustCompile(`:(?:number|instant|duration|state|status)\}|\||run_id:`)

// localSentences returns those of a part of the table whose English text the console does not take from the server.
func localSentences(name, of string, in func(*reason.Sentence) bool) string {
	var b strings.Builder
	b.WriteString("// The table of package job/reason, as it writes it. Do not edit.\n\n")
	fmt.Fprintf(&b, "/** Those of the %s whose values the console writes itself; of the others it shows the server's text. */\n", of)
	fmt.Fprintf(&b, "export const %s = {\n", name)
	for _, s := range reason.Sentences() {
		if in(s) && localised.MatchString(s.Template) {
			fmt.Fprintf(&b, "  %s: %s,\n", s.Code, strconv.Quote(s.Template))
		}
	}
	b.WriteString("};\n")
	return b.String()
}

// page returns the table for readers of the API.
func page() string {
	var b strings.Builder
	b.WriteString(`# Reasons

- [Form](#form)
- [Parameters](#parameters)
- [Codes](#codes)

## Form

Why a fire did not run, why a run waits, how it ended, why a request is refused: each such sentence
of the server has a code and parameters. The HTTP API gives both beside the English text:

    "reason": {
      "text": "overlap limit reached: 2 runs are still alive",
      "code": "overlap_full", "params": {"runs": "2"}
    }

Several sentences that belong together are one reason. The first one gives the code, and ` + "`and`" + ` has
the others in the same form. ` + "`text`" + ` has them all. Text that a handler wrote has no code.

On NATS and in the log store a reason is its English text. An executor in any language that sends
one of these texts as the message of an attempt has it shown in the reader's language.

## Parameters

A parameter is a string. In the texts below, the word after its colon is its kind:

- "number", "duration" (1h30m), "instant" (RFC 3339), "status" and "state" have these forms.
- A "word" has no spaces, a "phrase" no semicolon. "free" is any text, to the end.
- {runs|run|runs} is a number and the word that goes with it, for one and for many.

The list is generated from package [job/reason](../../job/reason/doc.go).

## Codes

| code | text |
|---|---|
`)
	for _, s := range reason.Sentences() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.Code, strings.ReplaceAll(s.Template, "|", `\|`))
	}
	return b.String()
}
