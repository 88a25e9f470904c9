package job

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// computed runs a command line that asks no server.
func computed(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e strings.Builder
	code = cli.Execute(t.Context(), cli.NewRoot(Commands()...), args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// testdata/next.tsv is a sample of what other schedulers answered: expression, zone,
// instant, and the five fires after it as we want them (job/cron has the whole).
func TestNextAnswersEachLineAsTheOracleDoes(t *testing.T) {
	data, err := os.ReadFile("testdata/next.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var questions strings.Builder
	var want []string
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		questions.WriteString(strings.Join(f[:3], "\t") + "\n")
		want = append(want, f[3])
	}
	code, out, errOut := computed(t, questions.String(), "next", "--stdin")
	if code != 0 || errOut != "" {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %d lines for %d", len(got), len(want))
	}
	asked := strings.Split(questions.String(), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %s\n got %s\nwant %s", i+1, asked[i], got[i], want[i])
		}
	}
}

func TestNextWarnsOfExpressionsThatManyPeopleMeanOtherwise(t *testing.T) {
	f := func(expr, warning string) {
		t.Helper()
		if code, out, errOut := computed(t, "", "next", expr, "-n=1", "--from=2026-03-27T12:00:00Z"); code != 0 || out == "" || errOut != warning {
			t.Errorf("%q: exit code %d, %s\n got %s\nwant %s", expr, code, out, errOut, warning)
		}
	}
	f("0 30 18 ? * 1-5", "warning: the expression has \"1-5\", which is SUN-THU, because 1 is Sunday with six fields; write names, such as MON-FRI\n")
	f("*/90 * * * *", "warning: the expression has \"*/90\", which stands for 0 and starts again each time; use fixed_rate for a fire every 90m\n")
	f("0 30 18 ? * MON-FRI", "")
	f("@every 90m", "")
}

func TestNextPrintsFiresForPeople(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		code, out, errOut := computed(t, "", append([]string{"next"}, args...)...)
		if code != 0 || out != want {
			t.Errorf("%q: exit code %d\n got %s%s\nwant %s", args, code, out, errOut, want)
		}
	}
	from := "--from=2026-03-27T12:00:00Z"
	f("2026-03-28T02:30:00+01:00\n2026-03-29T03:00:00+02:00\n2026-03-30T02:30:00+02:00\n",
		"30 2 * * *", from, "--zone", "Europe/Paris", "-n", "3")
	f("2026-03-28T02:30:00+01:00\n2026-03-30T02:30:00+02:00\n",
		"30 2 * * *", from, "--zone", "Europe/Paris", "-n", "2", "--dst", "quartz")
	f("2027-01-01T00:00:00Z\nnone: no later date matches the schedule\n", "0 0 0 1 1 ? 2027", from)
	f("none: no date matches the schedule\n", "0 0 30 2 *", from)
	f("none: no later date matches the schedule\n", "0 0 0 1 1 ? 2025", from)
	f("none: the schedule has one fire, at 2026-03-01T08:00:00Z\n", "@at 2026-03-01T08:00:00Z", from)
	f("2026-03-27T12:01:30Z\n2026-03-27T12:03:00Z\n", "@every 90s", from, "-n", "2")
	f("2027-03-01T09:00:00+01:00\nnone: the schedule has one fire, at 2027-03-01T08:00:00Z\n", "@at 2027-03-01T08:00:00Z", from, "--zone", "Europe/Berlin")
	f("[\n  \"2026-03-27T13:00:00Z\"\n]\n", "@hourly", from, "-n1", "-o", "json")
	f("- \"2026-03-27T13:00:00Z\"\n", "@hourly", from, "-n1", "-o", "yaml")
	f("2026-03-28T04:36:00Z\n", "H H * * *", from, "-n1", "--job", "ops/backup")
}

func TestNextFillsInWhatALineLeavesOut(t *testing.T) {
	questions := "0 3 * * *\n0 3 * * *\tAsia/Tokyo\r\n0 3 * * *\tMars\n0 3 * * *\t\tsoon\nnonsense\n\n@every 1h\n"
	want := "2026-01-01T03:00:00+01:00,2026-01-02T03:00:00+01:00\n2026-01-02T03:00:00+09:00,2026-01-03T03:00:00+09:00\n" +
		"invalid\ninvalid\ninvalid\ninvalid\n2026-01-01T02:00:00+01:00,2026-01-01T03:00:00+01:00\n"
	code, out, _ := computed(t, questions, "next", "--stdin", "-n", "2", "--zone", "Europe/Berlin", "--from", "2026-01-01T00:00:00Z")
	if code != 0 || out != want {
		t.Errorf("exit code %d\n got %s\nwant %s", code, out, want)
	}
}

func TestNextSaysWhatIsWrong(t *testing.T) {
	f := func(code int, want string, args ...string) {
		t.Helper()
		got, _, errOut := computed(t, "", append([]string{"next"}, args...)...)
		if text, _, _ := strings.Cut(errOut, "\n"); got != code || text != "carillon: "+want {
			t.Errorf("%q: exit code %d: %s", args, got, errOut)
		}
	}
	f(cli.ExitError, `hour "25" must be a number from 0 to 23`, "0 25 * * *")
	f(cli.ExitUsage, "give one expression in quotes, or use --stdin")
	f(cli.ExitUsage, "give one expression in quotes, or use --stdin", "0", "3", "*")
	f(cli.ExitUsage, "give one expression in quotes, or use --stdin", "0 3 * * *", "--stdin")
	f(cli.ExitUsage, `zone "Mars" is not known; must be an IANA name such as "Europe/London"`, "@daily", "--zone", "Mars")
	f(cli.ExitUsage, `--from "soon" must be a time in RFC 3339, such as 2026-03-01T09:00:00+01:00`, "@daily", "--from", "soon")
	f(cli.ExitUsage, "-n 0 must be between 1 and 100000", "@daily", "-n", "0")
	f(cli.ExitUsage, `job "x" must be GROUP/NAME, each of 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit, for example billing/nightly-report`, "@daily", "--job", "x")
	f(cli.ExitUsage, `DST policy "maybe" must be auto, quartz, vixie, or of the form gap=skip|fire,overlap=first|last|both`, "@daily", "--dst", "maybe")
}

func BenchmarkNextLines(b *testing.B) {
	zone, err := cron.LoadZone("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	a := &almanac{zone: zone, from: time.Unix(1_767_225_600, 0), n: 5}
	lines := 0
	for b.Loop() {
		if got := a.answer(fmt.Sprintf("%d 3 * * *\tEurope/Berlin\t2026-01-01T00:00:00Z", lines%60)); got == "invalid" {
			b.Fatal(got)
		}
		lines++
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
}
