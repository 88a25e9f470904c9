package chinese

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/reason"
	_ "github.com/carillon-scheduler/carillon/job/reason/finding" // a part of the table
)

var update = flag.Bool("update", false, "rewrite the console's copy")

// TestTheConsoleHasTheSameSentences writes them with -update.
func TestTheConsoleHasTheSameSentences(t *testing.T) {
	reasons, findings := consoleFile("reasons", "Reason"), consoleFile("findings", "Finding")
	known := map[string]bool{}
	for _, s := range reason.Sentences() {
		if s.Refusal {
			continue
		}
		known[s.Code] = true
		if Sentence(s.Code) == "" {
			t.Errorf("%s is not said in Chinese", s.Code)
		}
		b := reasons
		if s.Finding {
			b = findings
		}
		fmt.Fprintf(b, "  %s: %s,\n", s.Code, strconv.Quote(Sentence(s.Code)))
		if got, want := slots(Sentence(s.Code)), params(s); !slices.Equal(got, want) {
			t.Errorf("%s has the parameters %q in Chinese, and %q in English", s.Code, got, want)
		}
	}
	for code := range sentences {
		if !known[code] {
			t.Errorf("package reason has no code %s", code)
		}
	}
	if _, err := os.Stat("../../../alert/doc.go"); err != nil {
		t.Skip("this is not the repository of Carillon")
	}
	for name, b := range map[string]*strings.Builder{"reasons": reasons, "findings": findings} {
		b.WriteString("};\n")
		file := "../../../frontend/src/i18n/zh/" + name + ".gen.ts"
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
			t.Errorf("%s is not current (%v); run go generate ./job/reason/chinese", file, err)
		}
	}
}

// consoleFile begins a file of the console with sentences of a kind.
func consoleFile(name, kind string) *strings.Builder {
	b := &strings.Builder{}
	b.WriteString("// The table of package job/reason/chinese, as it writes it. Do not edit.\n\n")
	fmt.Fprintf(b, "import type { %sCode } from \"../en/%s.gen\";\n\nexport const %s: Record<%sCode, string> = {\n", kind, name, name, kind)
	return b
}

var slot = regexp.MustCompile(`\{([a-z_]+:[a-z]+)\}`)

// slots returns the parameters of a template with their kinds, sorted.
func slots(template string) []string {
	var found []string
	for _, m := range slot.FindAllStringSubmatch(template, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return found
}

// params returns the parameters of a sentence in the same form.
func params(s *reason.Sentence) []string {
	var found []string
	for _, p := range s.Params {
		found = append(found, p.Name+":"+string(p.Kind))
	}
	slices.Sort(found)
	return found
}
