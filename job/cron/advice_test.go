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

func TestTheExpressionsOfOthersAreProposedInOurs(t *testing.T) {
	f := func(expr, want string) {
		t.Helper()
		if _, err := Parse(expr, 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", expr, err, want)
		}
	}
	const fields = "; must have 5 (Unix cron) or 6 or 7 (Quartz)"
	f("daily", `expression "daily" has 1 field`+fields+"; write @daily")
	f("@every_minute", `macro "@every_minute" is of FreeBSD; write * * * * *`)
	f("@every_second", `macro "@every_second" is of FreeBSD; use fixed_rate: 1s`)
	f("@600", `macro "@600" is of FreeBSD; it runs 600 seconds after the end of the run before: use fixed_delay: 600s`)
	f("rate(5 minutes)", `expression "rate(5 minutes)" has 2 fields`+fields+"; write @every 5m")
	f("every 1 hour", `expression "every 1 hour" has 3 fields`+fields+"; write @every 1h")
	f("cron(0 12 * * ? *)", `second "cron(0" must be a number from 0 to 59; write 0 0 12 * * ? *`)
	f("cron(0 25 * * ? *)", `second "cron(0" must be a number from 0 to 59`)
	const systemd = "; a calendar event of systemd is no cron expression: Mon..Fri 02:30 is 30 2 * * mon-fri"
	f("*-*-* 03:00:00", `expression "*-*-* 03:00:00" has 2 fields`+fields+systemd)
	f("Mon..Fri 02:00", `expression "Mon..Fri 02:00" has 2 fields`+fields+systemd)
	f("*:0/15", `expression "*:0/15" has 1 field`+fields+systemd)
	f("nonsense", `expression "nonsense" has 1 field`+fields)
	f("0 0 12 * * *", `day of week "*" must be "?", since day of month is not (Quartz, 6 or 7 fields); write 0 0 12 * * ?`)
	f("* * * * * *", `day of week "*" must be "?", since day of month is not (Quartz, 6 or 7 fields); write * * * * * ?`)
	f("0 0 12 * * MON", `day of month "*" must be "?", since day of week is not (Quartz, 6 or 7 fields); write 0 0 12 ? * MON`)
	f("0 0 12 1 * *", `day of week "*" must be "?", since day of month is not (Quartz, 6 or 7 fields); write 0 0 12 1 * ?`)
	f("0 0 12 1 * MON", `day of week "MON" must be "?", since day of month is not (Quartz, 6 or 7 fields)`)
}
