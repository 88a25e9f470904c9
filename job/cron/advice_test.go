package cron

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var proposed = regexp.MustCompile(`; write ([0-9,-]+)$`)

// Each range that ends before it starts is proposed as a list, which must have the values that the
// dialects have where ranges go round.
func TestTheProposalForARangeThatGoesRoundHasItsValues(t *testing.T) {
	tried := 0
	for at, f := range []*field{&unixMinute, &unixHour, &unixDom, &unixMonth, &unixDow} {
		size := f.high - f.low + 1
		if f == &unixDow {
			size = 7
		}
		for from := f.low; from <= f.high; from++ {
			for to := f.low; to < from; to++ {
				for _, step := range []int{1, 2, 3, 5, 7, 20} {
					fields := []any{"0", "0", "*", "*", "*"}
					item := fmt.Sprintf("%d-%d", from, to)
					if step > 1 {
						item += fmt.Sprintf("/%d", step)
					}
					fields[at] = item
					_, err := Parse(fmt.Sprintf("%s %s %s %s %s", fields...), 0)
					if err == nil {
						t.Fatalf("%s: %s is accepted", f.name, item)
					}
					m := proposed.FindStringSubmatch(err.Error())
					if m == nil {
						t.Fatalf("%s: no proposal in %v", item, err)
					}
					want := ""
					for v := from; v <= to+size; v += step {
						if want != "" {
							want += ","
						}
						want += strconv.Itoa(f.low + (v-f.low)%size)
					}
					fields[at] = m[1]
					got, err := Parse(fmt.Sprintf("%s %s %s %s %s", fields...), 0)
					if err != nil {
						t.Fatalf("the proposal for %s: %v", item, err)
					}
					fields[at] = want
					meant, err := Parse(fmt.Sprintf("%s %s %s %s %s", fields...), 0)
					if err != nil || *got != *meant {
						t.Fatalf("%s: proposed %s, meant %s; %v", item, m[1], want, err)
					}
					tried++
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d tried", tried)
	}
}

func TestTheProposalForARandomValueIsAnH(t *testing.T) {
	f := func(expr, want string) {
		t.Helper()
		_, err := Parse(expr, 0)
		if want += ", a value that the job's name chooses and that stays the same"; err == nil || !strings.HasSuffix(err.Error(), "; write "+want) {
			t.Errorf("%s: %v, want a proposal of %s", expr, err, want)
		}
	}
	f("1~30 * * * *", "H(1-30)")
	f("~ * * * *", "H")
	f("0 ~6 * * *", "H(0-6)")
	f("0 0 * * mon~fri", "H(mon-fri)")
	f("0 1~30 * * * ?", "H(1-30)")
	if _, err := Parse("70~80 * * * *", 0); err == nil || strings.Contains(err.Error(), "write") {
		t.Error(err)
	}
}
