package cron

import (
	"bufio"
	"compress/gzip"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is one line of an oracle file; testdata/README.md explains the columns.
type line struct {
	number                           int
	text, zone, from, expected, want string
	tag                              string
}

// oracle reads a file of testdata whose last column is the answer we want, "="
// standing for the expected column.
func oracle(t *testing.T, name string) []line {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	s := bufio.NewScanner(unzipped)
	for n := 1; s.Scan(); n++ {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		f := strings.Split(s.Text(), "\t")
		l := line{n, f[0], f[1], f[2], f[3], f[len(f)-1], f[5]}
		if l.want == "=" {
			l.want = l.expected
		}
		lines = append(lines, l)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// answer returns the next five fires of a line, as the oracle files write them.
func answer(t *testing.T, l line, p Policy) string {
	t.Helper()
	zone, err := LoadZone(l.zone)
	if err != nil {
		t.Fatal(err)
	}
	after, err := time.Parse(time.RFC3339, l.from)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(l.text, 0)
	if err != nil {
		return "invalid"
	}
	return strings.Join(fires(e, zone, p, after, 5), ",")
}

// fires formats the next n fires; "none" takes the place of the first that is missing.
func fires(e *Expr, z *Zone, p Policy, after time.Time, n int) []string {
	var out []string
	for range n {
		next, ok := e.Next(after, z, p)
		if !ok {
			return append(out, "none")
		}
		out = append(out, next.In(z.Location()).Format(time.RFC3339))
		after = next
	}
	return out
}

func TestUnixExpressionsFireAsTheOracleSays(t *testing.T) {
	for _, l := range oracle(t, "oracle-unix.tsv.gz") {
		if got := answer(t, l, DefaultPolicy); got != l.want {
			t.Errorf("line %d: %q in %s after %s:\n got %s\nwant %s", l.number, l.text, l.zone, l.from, got, l.want)
		}
	}
}

func TestVixiePolicyFiresAsVixieCronDoes(t *testing.T) {
	for _, l := range oracle(t, "oracle-unix.tsv.gz") {
		if l.tag == "reboot" {
			continue
		}
		if got := answer(t, l, VixiePolicy); got != l.expected {
			t.Errorf("line %d: %q in %s after %s:\n got %s\nwant %s", l.number, l.text, l.zone, l.from, got, l.expected)
		}
	}
}

func TestQuartzPolicyFiresAsQuartzDoes(t *testing.T) {
	for _, l := range oracle(t, "oracle-quartz.tsv.gz") {
		if l.tag != "core" && l.tag != "dst" {
			continue // what Quartz does there depends on when it is asked, or is not meant
		}
		if got := answer(t, l, QuartzPolicy); got != l.expected {
			t.Errorf("line %d: %q in %s after %s:\n got %s\nwant %s", l.number, l.text, l.zone, l.from, got, l.expected)
		}
	}
}

func TestQuartzExpressionsFireAsTheOracleSays(t *testing.T) {
	unix := map[string]bool{}
	for _, l := range oracle(t, "oracle-quartz.tsv.gz") {
		if len(strings.Fields(l.text)) == 5 && l.want == "invalid" {
			unix[l.text] = true // too few fields for Quartz; the number of fields decides
			continue
		}
		if got := answer(t, l, DefaultPolicy); got != l.want {
			t.Errorf("line %d: %q in %s after %s:\n got %s\nwant %s", l.number, l.text, l.zone, l.from, got, l.want)
		}
	}
	for text := range unix {
		if _, err := Parse(text, 0); err != nil {
			t.Errorf("five fields of the Quartz oracle: %v", err)
		}
	}
	if len(unix) > 3 {
		t.Errorf("left out as Unix expressions: %q", slices.Sorted(maps.Keys(unix)))
	}
}
