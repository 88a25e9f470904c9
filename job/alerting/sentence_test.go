package alerting

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

var update = flag.Bool("update", false, "write the console's copy of the sentences anew")

func (t text) names() []string { return strings.Fields(t.params) }

var placeholder = regexp.MustCompile(`\{(\w+)[|}]`)

func TestEverySentenceUsesTheParametersThatItNames(t *testing.T) {
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		of := codes[code]
		used := map[string]bool{}
		for _, template := range []string{of.english, of.chinese} {
			for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
				used[m[1]] = true
				if !slices.Contains(of.names(), m[1]) {
					t.Errorf("%s uses %s, which it does not name", code, m[1])
				}
			}
		}
		for _, name := range of.names() {
			if !used[name] {
				t.Errorf("%s names %s, and does not use it", code, name)
			}
		}
	}
}

func TestEverySentenceIsSaidInBothLanguages(t *testing.T) {
	chinese := Reader{Chinese, time.UTC}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		s := Sentence{Code: code, Params: Params{}}
		if got := s.In(chinese); strings.ContainsAny(got, "{}[]") {
			t.Errorf("%s without parameters is %q", code, got)
		}
		for _, name := range codes[code].names() {
			s.Params[name] = "x1"
		}
		if got := s.English(); got == "" || strings.ContainsAny(got, "{}[]|") || strings.ContainsFunc(got, isChinese) {
			t.Errorf("%s in English is %q", code, got)
		}
		got := s.In(chinese)
		if strings.ContainsAny(got, "{}[]|") || !strings.ContainsFunc(got, isChinese) {
			t.Errorf("%s in Chinese is %q", code, got)
		}
		if threeWords.MatchString(strings.ReplaceAll(codes[code].chinese, "carillon get ", "")) {
			t.Errorf("%s in Chinese has English: %q", code, got)
		}
	}
}

var threeWords = regexp.MustCompile(`[A-Za-z]+ [A-Za-z]+ [A-Za-z]+`)

func isChinese(c rune) bool { return unicode.Is(unicode.Han, c) }

func TestASentenceLeavesOutWhatIsNotKnown(t *testing.T) {
	f := func(want string, s Sentence, r Reader) {
		t.Helper()
		if got := s.In(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	chinese := Reader{Language: Chinese}
	one := Say("run_ended", "job", "a/b", "status", "timed_out")
	f("a/b timed out", one, Reader{})
	f("任务 a/b 执行超时", one, chinese)
	one.Params["others"] = "2"
	f("a/b timed out, and 2 other jobs", one, Reader{})
	f("任务 a/b 执行超时，另有 2 个任务异常", one, chinese)
	one.Params["others"] = "1"
	f("a/b timed out, and 1 other job", one, Reader{})
	f("a message was refused: no", Say("message_refused", "group", "", "reason", "no"), Reader{})
	f("no job of shard 3 fires: no", Say("shards_parked", "shards", "3", "count", "1", "reason", "no"), Reader{})
	f("no job of shards 3, 4 fires: no", Say("shards_parked", "shards", "3, 4", "count", "2", "reason", "no"), Reader{})
	f("a message was refused: {group} [x]", Say("message_refused", "reason", "{group} [x]"), Reader{})
	f("", Say("from_a_newer_version"), chinese)
	if got := Say("from_a_newer_version").Or("as it is", chinese); got != "as it is" {
		t.Errorf("a code that is not known is %q", got)
	}
}

func TestInstantsAreInTheZoneOfTheReader(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	s := Say("silenced_by", "by", "mia", "until", "2026-01-05T19:30:00Z")
	f := func(r Reader, want string) {
		t.Helper()
		if got := s.In(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(Reader{}, "silenced by mia until 2026-01-05T19:30:00Z")
	f(Reader{English, time.UTC}, "silenced by mia until 2026-01-05 19:30:00 UTC")
	f(Reader{Chinese, shanghai}, "已由 mia 静默至 2026-01-06 03:30:00 +08:00 Asia/Shanghai")
}

func TestReasonsAreInTheLanguageAndZoneOfTheReader(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	f := func(s Sentence, english, chinese string) {
		t.Helper()
		if got := s.In(Reader{English, shanghai}); got != english {
			t.Errorf("got %q, want %q", got, english)
		}
		if got := s.In(Reader{Chinese, shanghai}); got != chinese {
			t.Errorf("got %q, want %q", got, chinese)
		}
	}
	why := reason.Join(reason.OverlapFull.With(1), reason.FiresUntil.With(3, time.Date(2026, 1, 5, 19, 30, 0, 0, time.UTC)))
	f(Say("fire_of", "fire_time", "2026-01-05T19:00:00Z", "reason", why),
		"fire of 2026-01-06 03:00:00 +08:00 Asia/Shanghai: overlap limit reached: 1 run is still alive; 3 fires until 2026-01-06 03:30:00 +08:00 Asia/Shanghai",
		"2026-01-06 03:00:00 +08:00 Asia/Shanghai 的触发：仍有 1 次运行未结束，已达并发上限（阻塞处理策略）；共 3 次触发，截至 2026-01-06 03:30:00 +08:00 Asia/Shanghai")
	f(Say("message_refused", "reason", reason.NextAttempt.With(1, "timed_out", job.Duration(30*time.Second))),
		"a message was refused: attempt 1 timed out; the next is due 30s later", "一条消息被拒绝：第 1 次尝试执行超时，30s 后重试")
	f(Say("message_refused", "reason", "disk full; 仍"), "a message was refused: disk full; 仍", "一条消息被拒绝：disk full; 仍")
	run := Affected{Message: reason.Join(reason.TimedOut.With("5s"), "disk full")}
	if got := run.MessageIn(Reader{Chinese, shanghai}); got != "超过了 5s 的超时限制；disk full" {
		t.Errorf("the message of a run is %q", got)
	}
}

func TestAnIncidentIsExplainedByCodes(t *testing.T) {
	why := reason.OverlapFull.With(2)
	inc := Incident{Jobs: []Affected{{Message: "disk full"}, {Message: why}, {}}}
	inc.summarize(Say("shards_parked", "shards", "3", "count", "1", "reason", why))
	inc.Jobs[2].Say(Say("fire_of", "fire_time", "2026-01-05T19:00:00Z", "reason", why))
	e := inc.Explained()
	if got := []reason.Text{e.SummaryReason, e.Jobs[0].MessageReason, e.Jobs[1].MessageReason, e.Jobs[2].MessageReason}; !slices.Equal(got, []reason.Text{reason.Text(why), "disk full", reason.Text(why), reason.Text(why)}) {
		t.Errorf("the reasons are %q", got)
	}
	if inc.SummaryReason != "" || inc.Jobs[1].MessageReason != "" {
		t.Errorf("the incident itself has changed: %+v", inc)
	}
}

// needsRepository skips a test that reads files which are no part of this module.
func needsRepository(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../../alert/doc.go"); err != nil {
		t.Skip("this is not the repository of Carillon")
	}
}

// TestSentencesAreSaidWithTheirParameters reads the calls of Say: a code or a name that is
// not in the table would be told as nothing.
func TestSentencesAreSaidWithTheirParameters(t *testing.T) {
	needsRepository(t)
	said := map[Code]bool{}
	for _, pattern := range []string{"*.go", "../../alert/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isSay(call.Fun) {
					checkSay(t, file, call, said)
				}
				return true
			})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !said[code] {
			t.Errorf("nobody says %s", code)
		}
	}
}

func isSay(f ast.Expr) bool {
	if s, ok := f.(*ast.SelectorExpr); ok {
		pkg, ok := s.X.(*ast.Ident)
		return ok && pkg.Name == "alerting" && s.Sel.Name == "Say"
	}
	f2, ok := f.(*ast.Ident)
	return ok && f2.Name == "Say"
}

func checkSay(t *testing.T, file string, call *ast.CallExpr, said map[Code]bool) {
	t.Helper()
	text := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			t.Errorf("%s: a code or a name of a parameter is not a literal", file)
			return ""
		}
		value, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		return value
	}
	code := Code(text(call.Args[0]))
	said[code] = true
	if _, known := codes[code]; !known {
		t.Errorf("%s says %s, which the table does not have", file, code)
	}
	if len(call.Args)%2 != 1 {
		t.Errorf("%s says %s with a name that has no value", file, code)
	}
	for i := 1; i < len(call.Args); i += 2 {
		if name := text(call.Args[i]); !slices.Contains(codes[code].names(), name) {
			t.Errorf("%s says %s with %s, which the table does not have", file, code, name)
		}
	}
}

// TestTheConsoleHasTheSameSentences writes them with -update.
func TestTheConsoleHasTheSameSentences(t *testing.T) {
	needsRepository(t)
	for _, lang := range Languages {
		r := Reader{Language: lang}
		var b strings.Builder
		b.WriteString("// Written by: go test ./job/alerting -update\n\n")
		write := func(name string, keys []string, value func(key string) string) {
			b.WriteString("export const " + name + ": Record<string, string> = {\n")
			for _, key := range keys {
				text, err := json.Marshal(value(key))
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString("  " + key + ": " + string(text) + ",\n")
			}
			b.WriteString("};\n")
		}
		var statuses, all []string
		for s := range statusWords {
			statuses = append(statuses, string(s))
		}
		for code := range codes {
			all = append(all, string(code))
		}
		slices.Sort(statuses)
		slices.Sort(all)
		write("ended", statuses, func(key string) string { return r.Status(job.Status(key)) })
		write("sentences", all, func(key string) string { return codes[Code(key)].in(lang) })
		file := filepath.Join("../../frontend/src/i18n", string(lang), "sentences.gen.ts")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
			t.Errorf("%s is not current (%v); run: go test ./job/alerting -update", file, err)
		}
	}
}
